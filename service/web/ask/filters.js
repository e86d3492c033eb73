/** The sources of a question: papers, sections, kinds of elements, and years. */

import { get } from '../api.js'
import { Dialog, ErrorState, Icon, Spinner, html, t, useAsync, useDebounced, useState } from '../ui/index.js'
import { NO_FILTERS } from './conversations.js'

const KINDS = ['text', 'table', 'figure', 'equation', 'reference']
const MOST_PAPERS = 200
const YEAR = /^\d{4}$/

/** The filters in words, one a chip. @param {import('./conversations.js').Filters} filters @param {Map<string, string>} titles */
export function describe(filters, titles) {
  return [
    ...filters.papers.map((id) => ({ key: 'papers', value: id, icon: 'paper', text: titles.get(id) ?? id })),
    ...filters.sections.map((one) => ({ key: 'sections', value: one, icon: 'menu', text: t('ask.filters.inSection', { section: one }) })),
    ...filters.kinds.map((one) => ({ key: 'kinds', value: one, icon: 'filter', text: t(`ask.filters.kinds.${one}`) })),
    ...(filters.each_paper ? [{ key: 'each_paper', value: true, icon: 'table', text: t('ask.eachPaper') }] : []),
    ...(filters.years ? [{ key: 'years', value: filters.years, icon: 'clock', text: filters.years.replace('-', '–') }] : []),
  ]
}

/** The filters without one that `describe` names. */
export function without(filters, { key, value }) {
  return key === 'years' ? { ...filters, years: '' } : { ...filters, [key]: filters[key].filter((one) => one !== value) }
}

/** @param {{filters: object, titles: Map<string, string>, onRemove?: (chip: object) => void}} props */
export function FilterChips({ filters, titles, onRemove }) {
  const chips = describe(filters, titles)
  if (!chips.length) return null
  return html`<ul class="filter-chips" aria-label=${t('ask.filters.active')}>
    ${chips.map(
      (chip) =>
        html`<li key=${chip.key + chip.value}>
          ${onRemove
            ? html`<button
                type="button"
                class="chip accent"
                aria-label=${t('ask.filters.remove', { filter: chip.text })}
                onClick=${() => onRemove(chip)}
              >
                <${Icon} name=${chip.icon} size="14" /><span dir="auto">${chip.text}</span><${Icon} name="close" size="12" />
              </button>`
            : html`<span class="chip"><${Icon} name=${chip.icon} size="14" /><span dir="auto">${chip.text}</span></span>`}
        </li>`,
    )}
  </ul>`
}

/** @param {{filters: object, onApply: (filters: object) => void, onClose: () => void}} props */
export function FilterDialog({ filters, onApply, onClose }) {
  const [first, last] = filters.years ? (filters.years.includes('-') ? filters.years.split('-') : [filters.years, filters.years]) : ['', '']
  const [papers, setPapers] = useState(filters.papers)
  const [kinds, setKinds] = useState(filters.kinds)
  const [sections, setSections] = useState(filters.sections.join(', '))
  const [years, setYears] = useState({ first, last })
  const [search, setSearch] = useState('')
  const query = useDebounced(search.trim())
  const path = `/v1/papers?limit=${MOST_PAPERS}${query ? `&query=${encodeURIComponent(query)}` : ''}`
  const found = useAsync((signal) => get(path, { signal }), [path])
  const tags = useAsync((signal) => get('/v1/tags', { signal }), [])

  const toggle = (set, value) => set((all) => (all.includes(value) ? all.filter((one) => one !== value) : [...all, value]))
  const problem = yearsProblem(years)
  const apply = (event) => {
    event.preventDefault()
    if (problem) return
    onApply({
      papers,
      kinds,
      sections: sections.split(/[,;\n]/).map((one) => one.trim()).filter(Boolean),
      years: years.first === years.last ? years.first : `${years.first}-${years.last}`,
    })
  }
  const reset = () => onApply(NO_FILTERS)
  const footer = html`<button type="button" class="button quiet" onClick=${reset}>${t('ask.filters.reset')}</button>
    <button type="submit" form="filters" class="button primary" disabled=${Boolean(problem)}>${t('ask.filters.apply')}</button>`
  return html`<${Dialog} title=${t('ask.filters.title')} onClose=${onClose} footer=${footer}>
    <form class="filters" id="filters" onSubmit=${apply}>
      <fieldset class="field">
        <legend class="label">${t('ask.filters.papers')}</legend>
        <input
          class="input"
          type="search"
          aria-label=${t('ask.filters.searchPapers')}
          placeholder=${t('ask.filters.searchPapers')}
          value=${search}
          onInput=${(event) => setSearch(event.currentTarget.value)}
        />
        <div class="tag-filter">
          ${Object.keys(tags.data?.tags ?? {}).map(
            (tag) =>
              html`<button type="button" class="chip ${papers.includes(`#${tag}`) ? 'accent' : ''}" key=${tag} aria-pressed=${papers.includes(`#${tag}`)} onClick=${() => toggle(setPapers, `#${tag}`)}>#${tag}</button>`,
          )}
        </div>
        <div class="filter-papers">
          ${found.error && html`<${ErrorState} error=${found.error} onRetry=${found.reload} />`}
          ${!found.data && found.loading && html`<${Spinner} />`}
          ${found.data?.papers.map(
            (paper) =>
              html`<label class="check" key=${paper.id}>
                <input type="checkbox" checked=${papers.includes(paper.id)} onChange=${() => toggle(setPapers, paper.id)} />
                <span><span class="printed" dir="auto">${paper.title || paper.file}</span>${paper.year && html` <small>${paper.year}</small>`}</span>
              </label>`,
          )}
          ${found.data && !found.data.papers.length && html`<p class="hint">${t('ask.filters.noPapers')}</p>`}
          ${found.data?.total > found.data?.papers.length &&
          html`<p class="hint">${t('ask.filters.morePapers', { count: found.data.total - found.data.papers.length })}</p>`}
        </div>
        <p class="hint" role="status">${hintOf(papers)}</p>
      </fieldset>
      <fieldset class="field">
        <legend class="label">${t('ask.filters.kindsLabel')}</legend>
        <div class="filter-kinds">
          ${KINDS.map(
            (kind) =>
              html`<label class="check">
                <input type="checkbox" checked=${kinds.includes(kind)} onChange=${() => toggle(setKinds, kind)} />
                <span>${t(`ask.filters.kinds.${kind}`)}</span>
              </label>`,
          )}
        </div>
      </fieldset>
      <div class="field">
        <label for="filter-sections">${t('ask.filters.sections')}</label>
        <input
          class="input"
          id="filter-sections"
          aria-describedby="filter-sections-hint"
          value=${sections}
          onInput=${(event) => setSections(event.currentTarget.value)}
        />
        <p class="hint" id="filter-sections-hint">${t('ask.filters.sectionsHint')}</p>
      </div>
      <fieldset class="field">
        <legend class="label">${t('ask.filters.years')}</legend>
        <div class="filter-years">
          ${['first', 'last'].map(
            (end) =>
              html`<input
                class="input"
                inputmode="numeric"
                maxlength="4"
                aria-label=${t(`ask.filters.${end}Year`)}
                placeholder=${t(`ask.filters.${end}Year`)}
                aria-invalid=${Boolean(problem)}
                value=${years[end]}
                onInput=${(event) => setYears({ ...years, [end]: event.currentTarget.value.trim() })}
              />`,
          )}
        </div>
        ${problem && html`<p class="hint bad" role="alert">${problem}</p>`}
      </fieldset>
    </form>
  <//>`
}

function hintOf(papers) {
  const count = papers.filter((name) => !name.startsWith('#')).length
  if (count) return t('ask.filters.chosen', { count })
  return papers.length ? papers.join(', ') : t('ask.filters.allPapers')
}

function yearsProblem({ first, last }) {
  if ([first, last].some((year) => year && !YEAR.test(year))) return t('ask.filters.yearForm')
  return first && last && first > last ? t('ask.filters.yearOrder') : ''
}
