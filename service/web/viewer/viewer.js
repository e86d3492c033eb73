/** The page viewer: a paper with what an answer cites lit in it. */

import { at } from '../api.js'
import {
  Dialog,
  EmptyState,
  ErrorState,
  Icon,
  Menu,
  Spinner,
  html,
  place,
  t,
  useAsync,
  useDebounced,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from '../ui/index.js'
import { isPaged, latexOf, loadOutline, placesOf } from './elements.js'
import { firstStop, isByLine, marksByPage, nameOf, stopsOf } from './evidence.js'
import { Exhibit } from './exhibit.js'
import { nextZoom } from './geometry.js'
import { NoteDialog } from './note_dialog.js'
import { Outline } from './outline.js'
import { Pages } from './pages.js'
import { loadPdfJs } from './pdf.js'
import { PageSearch, countHits, foldQuery, nextHit } from './search.js'
import { loadPaper, openSource } from './sources.js'
import { TextDocument } from './text.js'
import { EvidenceTools, PageField, SearchBar, Tool, ZoomTools } from './toolbar.js'

export { prepare } from './sources.js'

const NONE = []
// Pixels; the zoom has no room in the bar of a narrower viewer.
const NARROW = 480
// Pixels; the outline covers the pages of a narrower viewer (see viewer.css).
const OVERLAID = 640
const SHORTCUTS = [
  ['n', 'viewer.nextEvidence'],
  ['p', 'viewer.previousEvidence'],
  ['/', 'viewer.search'],
  ['g', 'viewer.goToPage'],
  ['o', 'viewer.outline'],
  ['t', 'viewer.switchView'],
  ['m', 'notes.new'],
  ['+ −', 'viewer.zoom'],
  ['0', 'viewer.fitWidth'],
  ['↑ ↓', 'viewer.scroll'],
]

/**
 * A paper, with evidence lit in it.
 *
 * @param {{paper: string, evidence?: import('./evidence.js').Evidence[], active?: string, page?: number,
 *   onSelect?: (key: string) => void, onPage?: (page: number) => void, focused?: boolean}} props `paper` is an id; `active` is
 *   the key of the evidence that is shown; `onSelect` is called with the key of the evidence whose box was clicked or stepped
 *   to; with `focused`, the document gets the focus when it is there
 */
export function PageViewer({ paper: id, ...props }) {
  useEffect(() => {
    loadPdfJs().catch(() => {})
  }, [])
  const { data, error, reload } = useAsync((signal) => loadPaper(id, signal), [id])
  if (error?.status === 404) {
    return html`<div class="viewer state"><${EmptyState} title=${t('viewer.removedTitle')}>${t('viewer.removedText')}<//></div>`
  }
  if (error) return html`<div class="viewer state"><${ErrorState} error=${error} onRetry=${reload} /></div>`
  if (data?.head.id !== id) return html`<div class="viewer state"><${Spinner} /></div>`
  return html`<${Opened} key=${id} paper=${data} ...${props} />`
}

function Opened({ paper: view, evidence = NONE, active, page: startPage = 1, onSelect = () => {}, onPage = () => {}, focused = false }) {
  const paper = useMemo(() => ({ ...view, id: view.head.id }), [view])
  const paged = isPaged(paper)
  const { opened, error, reopen, asked } = useSource(paper, paged)
  const [asText, setAsText] = useState(!paged)
  const [zoom, setZoom] = useState({ fit: 'auto' })
  const [factor, setFactor] = useState(1)
  const [page, setPage] = useState(startPage)
  const [stop, setStop] = useState(-1)
  const [sidebar, setSidebar] = useState(false)
  const [open, setOpen] = useState(null)
  const [choice, setChoice] = useState(null)
  const [help, setHelp] = useState(false)
  const [noting, setNoting] = useState(false)
  const [narrow, setNarrow] = useState(false)
  const [texts, setTexts] = useState(null)
  const root = useRef()
  const pages = useRef({})
  const text = useRef({})
  const pageField = useRef()
  const searchField = useRef()

  // Callers make the list anew each time they render; what it says rarely changes.
  const said = JSON.stringify(evidence)
  const lit = useMemo(() => JSON.parse(said), [said])
  const marks = useMemo(() => marksByPage(lit, active), [lit, active])
  const stops = useMemo(() => stopsOf(lit), [lit])
  const latex = useMemo(() => latexOf(paper), [paper])
  const outline = useOutline(paper.id, sidebar || open !== null)

  const shownAsText = asText || (opened && !opened.source)
  const source = shownAsText ? null : opened?.source
  // Pages have their places, and so have marks, before the file is open.
  const shownAsPages = !shownAsText && !error && !asked
  const searchable = useMemo(
    () => (shownAsText ? texts : source && { count: paper.pages.length, textOf: (number) => source.text(number) }),
    [shownAsText, texts, source],
  )
  const search = useSearch(searchable, shownAsText ? 1 : page)

  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => setNarrow(root.current.clientWidth < NARROW))
    watch.observe(root.current)
    return () => watch.disconnect()
  }, [])

  const showStop = (index) => {
    const one = stops[index]
    if (!one) return
    if (shownAsText) text.current.showKey?.(one.key)
    else pages.current?.show?.(one.page, one.boxes)
  }
  const begin = useMemo(() => firstStop(stops, lit, active), [])
  useEffect(() => {
    const first = firstStop(stops, lit, active)
    const here = stops[stop]?.key === active ? stop : first
    setStop(here)
    if (first >= 0) showStop(here)
  }, [active, stops])
  useEffect(() => {
    if (shownAsText && active) text.current.showKey?.(active)
  }, [shownAsText])
  useEffect(() => {
    if (focused && (shownAsPages || shownAsText)) (shownAsText ? text : pages).current.focus?.()
  }, [focused, shownAsPages, shownAsText])
  useEffect(() => {
    const { hit } = search
    if (hit && !shownAsText) pages.current?.showPageOf?.(hit.page)
  }, [search.hit])

  const step = (by) => {
    if (!stops.length) return
    const next = stop < 0 ? (by > 0 ? 0 : stops.length - 1) : (stop + by + stops.length) % stops.length
    setStop(next)
    showStop(next)
    if (stops[next].key !== active) onSelect(stops[next].key)
  }
  const goTo = (number) => {
    pages.current.show(number)
    setPage(number)
  }
  const onMark = (keys, at) => {
    if (keys.length > 1) setChoice({ keys, at })
    else onSelect(keys[0])
  }
  const showElement = (element) => {
    setOpen(null)
    if (root.current.clientWidth < OVERLAID) setSidebar(false)
    if (shownAsText) text.current.showElement(element)
    else {
      const [first] = placesOf(element)
      pages.current.show(first.page, [first.box])
    }
    requestAnimationFrame(() => (shownAsText ? text : pages).current.focus?.())
  }
  const closeSearch = () => {
    search.close()
    ;(shownAsText ? text : pages).current?.focus?.()
  }
  const openSearch = () => {
    if (search.open) searchField.current()
    else search.start()
  }
  const onKeyDown = (event) => {
    const { key } = event
    if ((event.ctrlKey || event.metaKey) && key === 'f' && !event.shiftKey && !event.altKey) {
      event.preventDefault()
      openSearch()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, dialog, [role=menu]')) return
    const paging = shownAsPages && {
      '+': () => setZoom({ value: nextZoom(factor, 1) }),
      '=': () => setZoom({ value: nextZoom(factor, 1) }),
      '-': () => setZoom({ value: nextZoom(factor, -1) }),
      0: () => setZoom({ fit: 'width', page }),
      g: () => pageField.current(),
    }
    const actions = {
      n: () => step(1),
      p: () => step(-1),
      '/': openSearch,
      o: () => setSidebar(!sidebar),
      t: () => paged && opened?.source && setAsText(!asText),
      '?': () => setHelp(true),
      m: () => setNoting(true),
      ...paging,
    }
    if (!actions[key]) return
    event.preventDefault()
    actions[key]()
  }

  const title = paper.head.title || paper.head.file
  const items = open && outline.data ? outline.data[`${open.kind}s`] : open ? [open] : NONE
  const cited = useMemo(() => lit.flatMap(({ key, places }) => places.map((one) => ({ ...one, key, active: key === active }))), [lit, active])
  const start = begin >= 0 ? stops[begin] : { page: startPage }
  const more = [
    ...(shownAsPages && narrow
      ? [
          { label: t('viewer.zoomIn'), icon: 'plus', onSelect: () => setZoom({ value: nextZoom(factor, 1) }) },
          { label: t('viewer.zoomOut'), icon: 'minus', onSelect: () => setZoom({ value: nextZoom(factor, -1) }) },
          { label: t('viewer.fitWidth'), icon: 'expand', onSelect: () => setZoom({ fit: 'width', page }) },
        ]
      : []),
    ...(paged && opened?.source ? [{ label: t(asText ? 'viewer.asPages' : 'viewer.asText'), icon: asText ? 'paper' : 'quote', onSelect: () => setAsText(!asText) }] : []),
    { label: t('viewer.file'), icon: 'download', onSelect: () => location.assign(at(`/v1/papers/${paper.id}/file`)) },
    { label: t('viewer.shortcuts'), icon: 'info', onSelect: () => setHelp(true) },
  ]
  return html`<div class="viewer" ref=${root} onKeyDown=${onKeyDown}>
    <div class="viewer-bar" role="toolbar" aria-label=${t('viewer.tools')}>
      <${Tool} icon="sidebar" label=${t('viewer.outline')} keys="o" pressed=${sidebar} onClick=${() => setSidebar(!sidebar)} />
      ${shownAsPages &&
      html`<${PageField} page=${page} pages=${paper.pages.length} onGo=${goTo} handle=${pageField} />
        ${!narrow && html`<${ZoomTools} factor=${factor} page=${page} onZoom=${setZoom} />`}`}
      <span class="viewer-space"></span>
      ${stops.length > 0 && html`<${EvidenceTools} at=${stop} stops=${stops} onStep=${step} />`}
      <${Tool} icon="edit" label=${t('notes.new')} keys="m" onClick=${() => setNoting(true)} />
      <${Tool} icon="search" label=${t('viewer.search')} keys="/" pressed=${search.open} onClick=${() => (search.open ? closeSearch() : openSearch())} />
      <${Menu} label=${t('viewer.more')} items=${more} />
    </div>
    ${search.open && html`<${SearchBar} ...${search.bar} onClose=${closeSearch} handle=${searchField} />`}
    ${opened?.notice && html`<p class="viewer-notice note warn" role="status"><${Icon} name="info" size="16" /><span>${t(opened.notice)}</span></p>`}
    <div class="viewer-body">
      ${sidebar &&
      html`<${Outline} outline=${outline} paged=${!shownAsText} page=${page} onPlace=${showElement} onOpen=${setOpen} onClose=${() => setSidebar(false)} />`}
      ${shownAsText
        ? html`<${TextDocument}
            paper=${paper}
            paged=${paged}
            label=${t('viewer.textOf', { title })}
            evidence=${lit}
            active=${active}
            latex=${latex}
            onSelect=${onMark}
            onOpen=${setOpen}
            onReady=${setTexts}
            handle=${text}
            query=${search.query}
            hit=${search.hit}
          />`
        : shownAsPages
          ? html`<${Pages}
              pages=${paper.pages}
              source=${source}
              label=${t('viewer.pagesOf', { title })}
              marks=${marks}
              zoom=${zoom}
              onZoom=${setZoom}
              onFactor=${setFactor}
              onPage=${(number) => {
                setPage(number)
                onPage(number)
              }}
              onSelect=${onMark}
              handle=${pages}
              start=${start}
              query=${search.query}
              hit=${search.hit}
            />`
          : html`<div class="viewer-wait">
              ${error
                ? html`<${ErrorState} error=${error} onRetry=${reopen} />`
                : html`<${Password} ...${asked} onText=${() => setAsText(true)} />`}
            </div>`}
    </div>
    ${choice &&
    html`<${Choice}
      at=${choice.at}
      items=${lit.filter((one) => choice.keys.includes(one.key))}
      onSelect=${(key) => {
        setChoice(null)
        onSelect(key)
      }}
      onClose=${() => setChoice(null)}
    />`}
    ${open && html`<${Exhibit} items=${items} id=${open.id} latex=${latex} marks=${cited} onChange=${(next) => setOpen(items.find((one) => one.id === next))} onPlace=${showElement} onClose=${() => setOpen(null)} />`}
    ${noting && html`<${NoteDialog} paper=${paper.id} lit=${lit.find((one) => one.key === active)} onClose=${() => setNoting(false)} />`}
    ${help && html`<${Help} onClose=${() => setHelp(false)} />`}
  </div>`
}

/** Opens the pages of a paper; `asked` is there while a password is asked for. */
function useSource(paper, paged) {
  const [state, setState] = useState({ opened: null, error: null, asked: null })
  const [round, setRound] = useState(0)
  useEffect(() => {
    if (!paged) return undefined
    const abort = new AbortController()
    const askPassword = (wrong) =>
      new Promise((resolve) => {
        const answer = (password) => {
          setState({ opened: null, error: null, asked: null })
          resolve(password)
        }
        setState({ opened: null, error: null, asked: { wrong, onAnswer: answer } })
      })
    openSource(paper, { signal: abort.signal, askPassword }).then(
      (opened) => abort.signal.aborted || setState({ opened, error: null, asked: null }),
      (error) => abort.signal.aborted || setState({ opened: null, error, asked: null }),
    )
    return () => abort.abort()
  }, [paper, paged, round])
  return { ...state, reopen: () => setRound(round + 1) }
}

/** The outline, once it is needed. */
function useOutline(paper, needed) {
  const [wanted, setWanted] = useState(false)
  useEffect(() => {
    if (needed) setWanted(true)
  }, [needed])
  return useAsync((signal) => (wanted ? loadOutline(paper, signal) : Promise.resolve(undefined)), [paper, wanted])
}

/** The search in a document of `count` pages or blocks. */
function useSearch(searchable, page) {
  const [open, setOpen] = useState(false)
  const [value, setValue] = useState('')
  const [found, setFound] = useState({ counts: new Map(), done: true })
  const [hit, setHit] = useState(null)
  const settled = useDebounced(value, 150)
  const folded = useMemo(() => (open ? foldQuery(settled) : ''), [open, settled])
  const engine = useMemo(() => searchable && new PageSearch(searchable.count, searchable.textOf), [searchable])
  const from = useRef(page)
  from.current = hit?.page ?? page
  useEffect(() => {
    setHit(null)
    setFound({ counts: new Map(), done: false })
    if (!folded || !engine) return undefined
    const abort = new AbortController()
    const first = from.current
    const report = (counts, searched) => {
      setFound({ counts, done: searched === engine.pages })
      setHit((before) => before ?? nextHit(counts, { page: first, index: -1 }, 1))
    }
    engine.run(folded, { from: first, signal: abort.signal, report }).catch(() => abort.signal.aborted || setFound((before) => ({ ...before, done: true })))
    return () => abort.abort()
  }, [folded, engine])
  const { number, total } = countHits(found.counts, hit)
  const step = (by) => setHit((before) => before && nextHit(found.counts, before, by))
  const bar = { value, onInput: setValue, number, total, done: found.done, hasText: Boolean(engine?.hasText), searching: Boolean(folded), onStep: step }
  return { open, start: () => setOpen(true), close: () => setOpen(false), query: folded, hit, bar }
}

/** Asks for the password of an encrypted file. */
function Password({ wrong, onAnswer, onText }) {
  const input = useRef()
  useEffect(() => input.current.focus(), [wrong])
  const onSubmit = (event) => {
    event.preventDefault()
    onAnswer(input.current.value)
  }
  return html`<form class="password" onSubmit=${onSubmit}>
    <span class="empty-icon"><${Icon} name="key" size="28" /></span>
    <h2>${t('viewer.passwordTitle')}</h2>
    <p>${t('viewer.passwordText')}</p>
    <div class="field">
      <label for="paper-password">${t('viewer.password')}</label>
      <input
        class="input"
        id="paper-password"
        type="password"
        autocomplete="off"
        required
        ref=${input}
        aria-invalid=${wrong ? 'true' : undefined}
        aria-describedby=${wrong ? 'paper-password-wrong' : undefined}
      />
      ${wrong && html`<span class="wrong" id="paper-password-wrong" role="alert">${t('viewer.passwordWrong')}</span>`}
    </div>
    <div class="password-actions">
      <button type="submit" class="button primary">${t('viewer.unlock')}</button>
      <button type="button" class="button quiet" onClick=${onText}>${t('viewer.readText')}</button>
    </div>
  </form>`
}

/** Several pieces of evidence cite one place: which one? */
function Choice({ at, items, onSelect, onClose }) {
  const list = useRef()
  useLayoutEffect(() => {
    const focused = document.activeElement
    const point = new DOMRect(at.x, at.y, 0, 0)
    place(list.current, { getBoundingClientRect: () => point })
    list.current.querySelector('button').focus()
    const outside = (event) => list.current.contains(event.target) || onClose()
    document.addEventListener('pointerdown', outside)
    return () => {
      document.removeEventListener('pointerdown', outside)
      if (focused?.isConnected) focused.focus()
    }
  }, [])
  const onKeyDown = (event) => {
    event.stopPropagation()
    const all = [...list.current.querySelectorAll('button')]
    const index = all.indexOf(document.activeElement)
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: all.length - 1 }[event.key]
    if (to !== undefined) all.at(to % all.length).focus()
    else if (event.key === 'Escape' || event.key === 'Tab') onClose()
    else return
    event.preventDefault()
  }
  return html`<div class="menu-list choice" popover="manual" role="menu" aria-label=${t('viewer.citedBy')} ref=${list} onKeyDown=${onKeyDown}>
    ${items.map((one) => html`<button type="button" role="menuitem" tabindex="-1" onClick=${() => onSelect(one.key)}><span dir="auto">${nameOf(one)}</span></button>`)}
  </div>`
}

function Help({ onClose }) {
  return html`<${Dialog} title=${t('viewer.shortcuts')} size="small" onClose=${onClose}>
    <dl class="shortcuts">
      ${SHORTCUTS.map(([keys, name]) => html`<div><dt>${keys.split(' ').map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${t(name)}</dd></div>`)}
    </dl>
  <//>`
}
