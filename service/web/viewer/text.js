/** A paper as text: its elements in reading order, with the same marks as on pages. */

import { at } from '../api.js'
import { ErrorState, Formula, Icon, Spinner, html, t, useEffect, useMemo, useRef, useState } from '../ui/index.js'
import { growing, placesOf } from './elements.js'
import { isByLine } from './evidence.js'
import { isInside } from './geometry.js'
import { highlight } from './highlights.js'
import { find } from './search.js'
import { TableView } from './table.js'

/**
 * @param {{paper: {id: string}, paged: boolean, label: string, evidence: import('./evidence.js').Evidence[], active: string,
 *   latex: Map<string, string>, onSelect: (keys: string[], at: {x: number, y: number}) => void,
 *   onOpen: (element: object) => void, onReady: (texts: {count: number, textOf: Function}) => void, handle: {current: any},
 *   query: string, hit: {page: number, index: number} | null}} props `handle` gets `showKey` and `showElement`; a hit's page
 *   is the number of a block
 */
export function TextDocument({ paper, paged, label, evidence, active, latex, onSelect, onOpen, onReady, handle, query, hit }) {
  const scroller = useRef()
  const body = useRef()
  const wanted = useRef(null)
  const [elements, setElements] = useState([])
  const [state, setState] = useState({ done: false, error: null })
  const [round, setRound] = useState(0)

  useEffect(() => {
    const abort = new AbortController()
    const load = async () => {
      for await (const some of growing(paper.id, {}, abort.signal)) setElements(some)
      setState({ done: true, error: null })
    }
    load().catch((error) => abort.signal.aborted || setState({ done: false, error }))
    return () => abort.abort()
  }, [paper.id, round])

  useEffect(() => {
    if (!state.done) return
    const textOf = async (number) => nodesOf(body.current.children[number - 1]).map((node) => ({ text: node.data, eol: true }))
    onReady({ count: body.current.children.length, textOf })
  }, [state.done, elements])

  const marks = useMemo(() => marksOfElements(elements, evidence), [elements, evidence])
  const blocks = useMemo(() => elements.filter((element) => element.role !== 'furniture'), [elements])

  const reveal = (target) => {
    if (target) target.scrollIntoView({ block: 'center', behavior: 'instant' })
    return Boolean(target)
  }
  const show = (want) => {
    const selector = want.key ? `[data-keys~="${CSS.escape(want.key)}"]` : `[data-element="${CSS.escape(want.element)}"]`
    if (!reveal(body.current?.querySelector(selector))) wanted.current = want
  }
  handle.current = {
    showKey: (key) => show({ key }),
    showElement: (element) => show({ element: element.id }),
    focus: () => scroller.current.focus({ preventScroll: true }),
  }
  useEffect(() => {
    const want = wanted.current
    wanted.current = null
    if (want) show(want)
  }, [elements, marks])

  useEffect(() => {
    if (!query || !state.done) return undefined
    let current
    const ranges = [...body.current.children].flatMap((block, number) => {
      const nodes = nodesOf(block)
      const parts = nodes.map((node) => ({ text: node.data, eol: true }))
      return find(parts, query).map(({ start, end }, index) => {
        const range = document.createRange()
        range.setStart(nodes[start.part], start.offset)
        range.setEnd(nodes[end.part], end.offset)
        if (hit?.page === number + 1 && hit.index === index) current = range
        return range
      })
    })
    current?.startContainer.parentElement.scrollIntoView({ block: 'center', behavior: 'instant' })
    return highlight(ranges, current)
  }, [query, hit, state.done, evidence])

  const select = (keys, event) => {
    const frame = event.currentTarget.getBoundingClientRect()
    onSelect(keys, { x: event.clientX || frame.left, y: event.clientY || frame.bottom })
  }
  const props = { active, latex, onSelect: select, onOpen }
  return html`<div class="text-document" ref=${scroller} tabindex="0" role="region" aria-label=${label}>
    <div class="text-body printed" ref=${body}>
      ${blocks.map(
        (element, index) =>
          html`<${Block}
            key=${element.id}
            element=${element}
            marks=${marks.get(element.id) ?? NONE}
            page=${paged && element.place.page !== blocks[index - 1]?.place.page ? element.place.page : null}
            ...${props}
          />`,
      )}
    </div>
    ${state.error && html`<${ErrorState} error=${state.error} onRetry=${() => setRound(round + 1)} />`}
    ${!state.done && !state.error && html`<div class="text-loading"><${Spinner} /></div>`}
  </div>`
}

const NONE = []

function Block({ element, marks, page, active, latex, onSelect, onOpen }) {
  const open = html`<${OpenButton} element=${element} onOpen=${onOpen} />`
  const text = (value) => html`<${Marked} text=${value} marks=${marks} active=${active} onSelect=${onSelect} />`
  const keys = marks.filter((mark) => mark.whole).map((mark) => mark.key)
  const frame = (content, name) => html`<div
    class="block ${name} ${keys.length ? 'marked' : ''} ${keys.includes(active) ? 'active' : ''}"
    data-element=${element.id}
    data-keys=${keys.join(' ') || undefined}
    data-page=${page ?? undefined}
  >
    ${content}
  </div>`
  const caption = element.caption || element.label
  const head = html`<div class="float-head">
    ${caption && html`<p class="float-caption" dir="auto">${element.label && !element.caption?.startsWith(element.label) && html`<b>${element.label} </b>`}${element.caption && text(element.caption)}</p>`}${open}
  </div>`
  if (element.kind === 'table') {
    const marksOf = (cell) => marks.filter((mark) => mark.cells?.includes(cell)).map((mark) => ({ key: mark.key, active: mark.key === active }))
    return frame(html`${head}<${TableView} table=${element} marksOf=${marksOf} onSelect=${onSelect} />`, 'float')
  }
  if (element.kind === 'figure') {
    return frame(html`${element.crop ? html`<img src=${at(`/v1/crops/${element.crop}`)} alt=${caption || t('viewer.figure')} loading="lazy" />` : html`<p class="note">${t('viewer.noPicture')}</p>`}${head}`, 'float')
  }
  if (element.kind === 'equation') {
    const drawn = element.latex || latex.get(element.id)
    const shown = drawn
      ? html`<${Formula} latex=${drawn} text=${element.text} display />`
      : element.crop
        ? html`<img src=${at(`/v1/crops/${element.crop}`)} alt=${element.text} loading="lazy" />`
        : html`<p dir="auto">${text(element.text)}</p>`
    return frame(html`${shown}<span class="equation-end">${element.label && html`<span>${element.label}</span>`}${open}</span>`, 'equation')
  }
  if (element.role === 'title') return frame(html`<p role="heading" aria-level="2" dir="auto">${text(element.text)}</p>`, 'title')
  if (element.role === 'heading') {
    return frame(html`<p role="heading" aria-level=${Math.min(6, element.level + 2)} dir="auto">${text(element.text)}</p>`, `heading level-${element.level}`)
  }
  if (element.role === 'code') return frame(html`<pre tabindex="0" dir="ltr">${text(element.text)}</pre>`, 'code')
  return frame(html`<p dir="auto">${text(element.text)}</p>`, element.kind === 'reference' ? 'reference' : element.role)
}

function OpenButton({ element, onOpen }) {
  const label = t('viewer.openElement', { label: element.label || t(`viewer.${element.kind}`) })
  return html`<button type="button" class="icon-button small" aria-label=${label} title=${label} onClick=${() => onOpen(element)}>
    <${Icon} name="expand" size="16" />
  </button>`
}

/** Text with marks, which may overlap; a mark is a button within the text. */
function Marked({ text, marks, active, onSelect }) {
  const found = marks.filter((mark) => mark.start !== undefined && mark.of === text)
  if (!found.length) return text
  const cuts = [...new Set([0, text.length, ...found.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b)
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index]
    const here = found.filter((mark) => mark.start <= start && mark.end >= end)
    const piece = text.slice(start, end)
    if (!here.length) return piece
    const keys = here.map((mark) => mark.key)
    const tags = [...new Set(here.filter((mark) => mark.start === start && mark.tag !== null).map((mark) => mark.tag))]
    const onKeyDown = (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      onSelect(keys, event)
    }
    return html`<mark
      class="mark-text ${keys.includes(active) ? 'active' : ''}"
      role="button"
      tabindex="0"
      data-keys=${keys.join(' ')}
      onClick=${(event) => getSelection().isCollapsed && onSelect(keys, event)}
      onKeyDown=${onKeyDown}
      >${tags.length > 0 && html`<span class="mark-tag">${tags.join(', ')}</span>`}${piece}</mark
    >`
  })
}

/** The text nodes of a block, without those of marks' numbers and of buttons. */
function nodesOf(block) {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest('.mark-tag, .katex') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  )
  const nodes = []
  while (walker.nextNode()) nodes.push(walker.currentNode)
  return nodes
}

/** What is marked in each element: `start` to `end` of its text `of`, `cells`, or all of it (`whole`). */
function marksOfElements(elements, evidence) {
  const marks = new Map()
  const add = (element, one, mark) => {
    const list = marks.get(element.id) ?? []
    marks.set(element.id, list)
    list.push({ key: one.key, tag: one.claim, ...mark })
  }
  for (const one of evidence) {
    let tagged = false
    for (const element of elements) {
      if (element.role === 'furniture') continue
      const places = one.places.filter((place) => touches(element, place))
      if (!places.length && !(one.element === element.id && one.quote)) continue
      if (one.element && one.element !== element.id && elements.some((other) => other.id === one.element) && isByLine(element.place.box)) continue
      for (const mark of marksIn(element, one, places)) {
        add(element, one, tagged ? { ...mark, tag: null } : mark)
        tagged = true
      }
    }
  }
  return marks
}

function touches(element, place) {
  return [...placesOf(element), element.caption_place].filter(Boolean).some((own) => {
    if (own.page !== place.page) return false
    if (isByLine(place.box)) return place.box[1] <= own.box[3] && own.box[1] <= place.box[3]
    return isInside(place.box, own.box) || isInside(own.box, place.box)
  })
}

function marksIn(element, { quote = '' }, places) {
  if (element.cells) {
    const cells = element.cells.filter((cell) =>
      places.some(({ page, box }) => cell.place.page === page && isWithin(cell.place.box, box) && !isWithin(element.place.box, box)),
    )
    const quoted = quote ? element.cells.filter((cell) => cell.text === quote && (!cells.length || cells.includes(cell))) : []
    if (quoted.length) return [{ cells: quoted }]
    if (cells.length) return [{ cells }]
    return rangeIn(element.caption, quote) ?? [{ whole: true }]
  }
  if (element.kind === 'figure') return rangeIn(element.caption, quote) ?? [{ whole: true }]
  return rangeIn(element.text, quote) ?? linesIn(element, places) ?? [element.crop ? { whole: true } : { of: element.text, start: 0, end: element.text.length }]
}

function rangeIn(text, quote) {
  const start = quote && text ? text.indexOf(quote) : -1
  return start < 0 ? null : [{ of: text, start, end: start + quote.length }]
}

/** The printed lines of an element that lie in cited boxes. */
function linesIn(element, places) {
  const lines = element.lines ?? []
  const inside = lines.map(([, page, box]) => places.some((place) => place.page === page && isInside(box, place.box)))
  const [first, last] = [inside.indexOf(true), inside.lastIndexOf(true)]
  if (first < 0) return null
  const end = lines[last + 1]?.[0] ?? element.text.length
  return [{ of: element.text, start: lines[first][0], end: element.text.slice(0, end).trimEnd().length }]
}

const isWithin = (inner, outer) => inner[1] >= outer[1] - 1 && inner[3] <= outer[3] + 1 && inner[0] >= outer[0] - 1 && inner[2] <= outer[2] + 1
