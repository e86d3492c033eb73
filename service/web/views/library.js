/** The library: its papers, uploads, and removals that can be undone. */

import { at, get } from '../api.js'
import { EstimateDialog } from '../library/estimate.js'
import { loadJobs, onEnded } from '../library/jobs.js'
import { PaperRow } from '../library/paper_row.js'
import { hide, remove, removed, restore } from '../library/removals.js'
import { TagDialog, TagFilter } from '../library/tagging.js'
import { UploadPanel } from '../library/upload_panel.js'
import { addFiles, droppedFiles } from '../library/uploads.js'
import {
  EmptyState,
  ErrorState,
  Icon,
  SearchField,
  Spinner,
  errorTitle,
  formatNumber,
  go,
  html,
  routeTo,
  t,
  toast,
  useAsync,
  useDebounced,
  useEffect,
  useId,
  useRef,
  useState,
} from '../ui/index.js'
import { useStore } from '../ui/store.js'

const PAGE_SIZE = 50
const UNDO_SECONDS = 8
const SORTS = ['added', 'title', 'year', 'author']
const ACCEPTED = '.pdf,.docx,.odt,.epub,.xlsx,.pptx,.md,.markdown,.html,.htm,.xhtml,.txt,.xml,.nxml,.tei,.tex,.gz,.tgz,.zip,.png,.jpg,.jpeg,.tif,.tiff,.webp'

/** @param {{route: import('../ui/route.js').Route}} props */
export function Library({ route }) {
  const { query = '', year = '', sort = 'added', page = '1' } = route.query
  const [typed, setTyped] = useState({ query, year })
  const wanted = useDebounced(typed, 250)
  const offset = (Math.max(Number.parseInt(page, 10) || 1, 1) - 1) * PAGE_SIZE
  const list = useAsync(
    (signal) => get(`/v1/papers?${new URLSearchParams({ ...given({ query, year }), sort, limit: PAGE_SIZE, offset })}`, { signal }),
    [query, year, sort, offset],
  )
  const settings = useAsync((signal) => get('/v1/settings', { signal }), [])
  const hidden = useStore(removed)
  const [selected, setSelected] = useState(new Map())
  const [estimating, setEstimating] = useState(null)
  const [tagging, setTagging] = useState(null)
  const [tagRound, setTagRound] = useState(0)
  const replacing = useRef('')
  const input = useRef()
  const heading = useRef()

  const show = (change, options) => go(['library'], given({ query, year, sort, page, ...change }, { sort: 'added', page: '1' }), options)
  useEffect(() => {
    if (wanted.query !== query || wanted.year !== year) show({ ...wanted, page: '1' }, { replace: true })
  }, [wanted])
  // A link may have changed the words of the search.
  useEffect(() => {
    if (wanted.query !== query || wanted.year !== year) setTyped({ query, year })
  }, [query, year])
  useEffect(() => {
    loadJobs().catch(() => {})
    return onEnded((job) => {
      if (job.kind !== 'add' || job.state !== 'succeeded') return
      restore([job.result.paper])
      list.reload()
    })
  }, [])

  const add = (files, options = {}) => {
    if (!files.length) return
    const limit = settings.data?.limits.max_file_mb
    const fits = files.filter((file) => !limit || file.size <= limit * 1e6)
    for (const file of files) {
      if (!fits.includes(file)) toast(t('library.tooLarge', { name: file.name, limit }), { kind: 'error' })
    }
    if (!fits.length) return
    if (usesModel(settings.data)) setEstimating({ files: fits, options })
    else addFiles(fits, options)
  }
  const choose = (replaces = '') => {
    replacing.current = replaces
    input.current.multiple = !replaces
    input.current.value = ''
    input.current.click()
  }
  const removePapers = (papers) => {
    const ids = papers.map((paper) => paper.id)
    hide(ids)
    setSelected((before) => new Map([...before].filter(([id]) => !ids.includes(id))))
    const text = papers.length === 1 ? t('library.removedOne', { title: papers[0].title || papers[0].file }) : t('library.removed', { count: papers.length })
    const fail = (error) => toast(t('library.notRemoved', { reason: error.detail || errorTitle(error) }), { kind: 'error' })
    toast(text, { seconds: UNDO_SECONDS, leaving: false, undo: () => restore(ids), commit: () => remove(ids).then(list.reload, fail) })
    heading.current.focus()
  }
  const select = (paper, isSelected) =>
    setSelected((before) => {
      const after = new Map(before)
      if (isSelected) after.set(paper.id, paper)
      else after.delete(paper.id)
      return after
    })

  const total = list.data ? list.data.total - [...hidden].length : null
  const isFiltered = Boolean(query || year)
  return html`<div class="library">
    <${DropTarget} onDrop=${add}>
      <div class="page">
        <header class="page-head">
          <h1 ref=${heading} tabindex="-1">
            ${t('library.title')}
            ${total > 0 && !isFiltered && html`<span class="page-count">${t('library.count', { count: total })}</span>`}
          </h1>
          <input
            ref=${input}
            type="file"
            multiple
            hidden
            accept=${ACCEPTED}
            data-testid="files"
            onChange=${(event) => add([...event.target.files], { replaces: replacing.current })}
          />
          <button type="button" class="button primary" onClick=${() => choose()}>
            <${Icon} name="plus" /><span>${t('library.add')}</span>
          </button>
        </header>
        <${UploadPanel} />
        ${(total > 0 || isFiltered) && html`<${Tools} typed=${typed} onType=${setTyped} sort=${sort} onSort=${(key) => show({ sort: key, page: '1' })} />`}
        <${TagFilter} query=${query} round=${tagRound} onQuery=${(words) => setTyped({ ...typed, query: words })} />
        ${selected.size > 0 && html`<${Selection} papers=${[...selected.values()]} onClear=${() => setSelected(new Map())} onRemove=${removePapers} onTag=${setTagging} />`}
        <${List}
          list=${list}
          hidden=${hidden}
          selected=${selected}
          isFiltered=${isFiltered}
          onSelect=${select}
          onRemove=${removePapers}
          onReplace=${choose}
          onTag=${setTagging}
          onChoose=${() => choose()}
          onClear=${() => setTyped({ query: '', year: '' })}
        />
        ${list.data && html`<${Pages} total=${list.data.total} offset=${offset} onPage=${(number) => {
          show({ page: String(number) })
          heading.current.focus()
        }} />`}
      </div>
    <//>
    ${tagging &&
    html`<${TagDialog}
      papers=${tagging}
      onClose=${(changed) => {
        setTagging(null)
        if (!changed) return
        setTagRound(tagRound + 1)
        list.reload()
      }}
    />`}
    ${estimating &&
    html`<${EstimateDialog}
      files=${estimating.files}
      onClose=${() => setEstimating(null)}
      onAdd=${() => {
        setEstimating(null)
        addFiles(estimating.files, estimating.options)
      }}
    />`}
  </div>`
}

function usesModel(settings) {
  return Boolean(settings?.models?.extract || settings?.models?.vision)
}

/** The values that are set and are not the defaults. */
function given(values, defaults = {}) {
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => value && value !== defaults[key]))
}

function Tools({ typed, onType, sort, onSort }) {
  const id = useId()
  return html`<div class="library-tools" role="search">
    <${SearchField}
      label=${t('library.search')}
      hint=${t('library.searchHint')}
      value=${typed.query}
      onType=${(query) => onType({ ...typed, query })}
    />
    <input
      type="text"
      class="input year-field"
      inputmode="numeric"
      aria-label=${t('library.year')}
      placeholder=${t('library.yearHint')}
      value=${typed.year}
      onInput=${(event) => onType({ ...typed, year: event.target.value })}
    />
    <label class="visually-hidden" for="${id}-sort">${t('library.sort')}</label>
    <select id="${id}-sort" class="input sort-field" value=${sort} onChange=${(event) => onSort(event.target.value)}>
      ${SORTS.map((key) => html`<option value=${key} selected=${key === sort}>${t(`library.sorts.${key}`)}</option>`)}
    </select>
  </div>`
}

function Selection({ papers, onClear, onRemove, onTag }) {
  const ask = routeTo(['ask'], { paper: papers.map((paper) => paper.id).join(',') })
  return html`<div class="selection" role="region" aria-label=${t('library.selection')}>
    <span aria-live="polite">${t('library.selected', { count: papers.length })}</span>
    <a class="button small primary" href=${ask}><${Icon} name="ask" size="16" /><span>${t('library.ask')}</span></a>
    <a class="button small" href=${at(`/v1/bibtex?${papers.map((paper) => `paper=${paper.id}`).join('&')}`)} download="papers.bib">
      <${Icon} name="quote" size="16" /><span>${t('library.bibtex')}</span>
    </a>
    <button type="button" class="button small" onClick=${() => onTag(papers)}><${Icon} name="filter" size="16" /><span>${t('tags.edit')}</span></button>
    <button type="button" class="button small danger" onClick=${() => onRemove(papers)}>
      <${Icon} name="trash" size="16" /><span>${t('library.remove')}</span>
    </button>
    <button type="button" class="button small quiet" onClick=${onClear}>${t('common.clear')}</button>
  </div>`
}

function List({ list, hidden, selected, isFiltered, onSelect, onRemove, onReplace, onTag, onChoose, onClear }) {
  if (list.error && !list.data) return html`<${ErrorState} error=${list.error} onRetry=${list.reload} />`
  if (!list.data) return html`<div class="view-state"><${Spinner} /></div>`
  const papers = list.data.papers.filter((paper) => !hidden.has(paper.id))
  if (!papers.length && isFiltered) {
    const action = html`<button type="button" class="button" onClick=${onClear}>${t('library.clearFilter')}</button>`
    return html`<${EmptyState} icon="search" title=${t('library.noMatch')} action=${action}>${t('library.noMatchText')}<//>`
  }
  if (!papers.length) {
    const action = html`<button type="button" class="button primary" onClick=${onChoose}>${t('library.chooseFiles')}</button>`
    return html`<div class="drop-hint"><${EmptyState} icon="upload" title=${t('library.empty')} action=${action}>${t('library.emptyText')}<//></div>`
  }
  return html`${list.error && html`<${ErrorState} error=${list.error} onRetry=${list.reload} />`}
    <ul class="papers" aria-busy=${list.loading} aria-label=${t('library.title')}>
      ${papers.map(
        (paper) =>
          html`<${PaperRow}
            key=${paper.id}
            paper=${paper}
            selected=${selected.has(paper.id)}
            onSelect=${(isSelected) => onSelect(paper, isSelected)}
            onRemove=${() => onRemove([paper])}
            onReplace=${() => onReplace(paper.id)}
            onTag=${() => onTag([paper])}
          />`,
      )}
    </ul>`
}

function Pages({ total, offset, onPage }) {
  if (total <= PAGE_SIZE) return null
  const current = offset / PAGE_SIZE + 1
  const last = Math.ceil(total / PAGE_SIZE)
  const range = { from: offset + 1, to: Math.min(offset + PAGE_SIZE, total), total }
  const button = (number, icon, label) =>
    html`<button type="button" class="icon-button" disabled=${number < 1 || number > last} aria-label=${t(label)} onClick=${() => onPage(number)}>
      <${Icon} name=${icon} />
    </button>`
  return html`<nav class="pages" aria-label=${t('library.pages')}>
    ${button(current - 1, 'chevronLeft', 'library.previous')}
    <label class="page-number">
      <span class="visually-hidden">${t('library.page')}</span>
      <input
        class="input"
        inputmode="numeric"
        value=${current}
        onChange=${(event) => onPage(Math.min(Math.max(Number.parseInt(event.target.value, 10) || 1, 1), last))}
      />
      <span>${t('library.ofPages', { last })}</span>
    </label>
    ${button(current + 1, 'chevronRight', 'library.next')}
    <span class="pages-range">${formatNumber(range.from)}–${formatNumber(range.to)} / ${formatNumber(total)}</span>
  </nav>`
}

/** Takes files that are dropped anywhere on the view. */
function DropTarget({ onDrop, children }) {
  // Events of children come between enter and leave.
  const [depth, setDepth] = useState(0)
  const hasFiles = (event) => event.dataTransfer?.types.includes('Files')
  return html`<div
    class="drop-target"
    onDragEnter=${(event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setDepth((before) => before + 1)
    }}
    onDragLeave=${(event) => hasFiles(event) && setDepth((before) => Math.max(before - 1, 0))}
    onDragOver=${(event) => hasFiles(event) && event.preventDefault()}
    onDrop=${async (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setDepth(0)
      const files = await droppedFiles(event.dataTransfer).catch(() => null)
      if (files) onDrop(files)
      else toast(t('library.unreadableDrop'), { kind: 'error' })
    }}
  >
    ${children}
    ${depth > 0 &&
    html`<div class="drop-cover"><div><${Icon} name="upload" size="32" /><strong>${t('library.drop')}</strong><span>${t('library.formats')}</span></div></div>`}
  </div>`
}
