/** The pages of a document below each other: only those in sight exist, at the size that the API gives. */

import { html, t, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../ui/index.js'
import { Layout, PIXELS_PER_POINT, clampZoom, fitPage, fitWidth, keysAt, percentages, reveal, typicalPage, union } from './geometry.js'
import { highlight } from './highlights.js'
import { find } from './search.js'

// The zoom without a choice: the width, but large windows don't make large letters.
const LARGEST_FIT = 1.5
const SETTLED = 140
// On a phone, evidence is shown at a zoom at which it fills the width, but letters are no larger than this.
const PHONE_WIDTH = 560
const LARGEST_EVIDENCE = 1.25
const WHEEL_SPEED = 0.0022

/** @typedef {{fit: 'auto'} | {fit: 'width' | 'page', page: number} | {value: number, chosen?: false}} Zoom `page` is the one that fits; `chosen` is false if evidence set it */

function factorOf(zoom, pages, { width, height }) {
  if (zoom.value) return clampZoom(zoom.value, pages)
  if (zoom.fit === 'auto') return Math.min(fitWidth(typicalPage(pages), width, pages), LARGEST_FIT)
  const page = pages[zoom.page - 1]
  return zoom.fit === 'page' ? fitPage(page, width, height, pages) : fitWidth(page, width, pages)
}

/**
 * @param {{pages: import('./geometry.js').Page[], source: object | undefined, label: string,
 *   marks: Map<number, import('./geometry.js').Mark[]>,
 *   zoom: Zoom, onZoom: (zoom: Zoom) => void, onFactor: (factor: number) => void, onPage: (number: number) => void,
 *   onSelect: (keys: string[], at: {x: number, y: number}) => void, handle: {current: any},
 *   start: {page: number, boxes?: number[][]}, query: string, hit: {page: number, index: number} | null}} props
 *   without a source yet, the pages are blank; `handle` gets `show(page, boxes)`; `query` is folded
 */
export function Pages({ pages, source, label, marks, zoom, onZoom, onFactor, onPage, onSelect, handle, start, query, hit }) {
  const scroller = useRef()
  const [view, setView] = useState(null)
  const [shown, setShown] = useState(start.page - 1)
  const drawings = source?.drawings
  const position = useRef({ left: 0, top: 0 })
  const anchor = useRef(null)
  const pending = useRef(start)
  // The page that was asked for, as long as nobody scrolls: more of its neighbour may be in sight.
  const aimed = useRef(null)

  const factor = view && factorOf(zoom, pages, view)
  const layout = useMemo(() => factor && new Layout(pages, factor * PIXELS_PER_POINT, view.width), [pages, factor, view?.width])
  const before = useRef(null)

  const look = () => {
    // A scroll event may come after the view was closed.
    if (!scroller.current) return
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = scroller.current
    position.current = { left: scrollLeft, top: scrollTop }
    setView((was) => {
      const same = was && was.width === clientWidth && was.height === clientHeight && was.top === scrollTop
      return same ? was : { top: scrollTop, width: clientWidth, height: clientHeight }
    })
  }

  useLayoutEffect(() => {
    look()
    const watch = new ResizeObserver(look)
    watch.observe(scroller.current)
    return () => {
      watch.disconnect()
      handle.current = {}
    }
  }, [])

  const moveTo = ({ left, top }) => {
    scroller.current.scrollTo({ left, top, behavior: 'instant' })
    look()
  }
  const showRectangle = (rectangle) => {
    const { clientWidth: width, clientHeight: height } = scroller.current
    moveTo(reveal(rectangle, { ...position.current, width, height }))
  }
  const show = (number, boxes) => {
    if (!layout) {
      pending.current = { page: number, boxes }
      return
    }
    const index = Math.max(0, Math.min(number, pages.length) - 1)
    const closer = boxes?.length && evidenceZoom(union(boxes))
    if (closer) {
      pending.current = { page: number, boxes }
      onZoom({ value: closer, chosen: false })
      return
    }
    if (boxes?.length) showRectangle(layout.rectangle(index, union(boxes)))
    else moveTo({ left: position.current.left, top: layout.tops[index] - 8 })
    aimed.current = { index, top: position.current.top }
    look()
  }
  /** The zoom at which a box can be read on a phone; 0 if it can, or somebody has chosen one. */
  const evidenceZoom = ([x0, , x1]) => {
    const { clientWidth: width } = scroller.current
    if (width >= PHONE_WIDTH || !(zoom.fit === 'auto' || zoom.chosen === false)) return 0
    const wanted = Math.min((width - 24) / (Math.max(1, x1 - x0) * PIXELS_PER_POINT), LARGEST_EVIDENCE)
    const value = clampZoom(Math.max(wanted, fitWidth(typicalPage(pages), width, pages)), pages)
    return Math.abs(value / factor - 1) > 0.05 ? value : 0
  }

  // What was in the middle of the window, or under the pointer, stays there while the scale changes.
  useLayoutEffect(() => {
    if (!layout) return
    const old = before.current
    const { clientWidth: width, clientHeight: height } = scroller.current
    before.current = layout
    onFactor(factor)
    if (pending.current) {
      const { page, boxes } = pending.current
      pending.current = null
      show(page, boxes)
    } else if (old) {
      const { x, y } = anchor.current ?? { x: width / 2, y: height / 3 }
      anchor.current = null
      const { left, top } = position.current
      const to = layout.position(old.locate(left + x, top + y))
      const stays = aimed.current?.top === top
      moveTo({ left: to.x - x, top: to.y - y })
      if (stays) aimed.current = { index: aimed.current.index, top: position.current.top }
    }
  }, [layout])

  const aim = aimed.current && aimed.current.top === view?.top ? aimed.current.index : null
  const current = layout ? (aim ?? layout.current(view.top, view.height)) : shown
  useEffect(() => {
    drawings?.lookAt(current + 1)
    if (current === shown) return
    setShown(current)
    onPage(current + 1)
  }, [current, drawings])

  useEffect(() => {
    const element = scroller.current
    const onWheel = (event) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      if (!before.current) return
      const frame = element.getBoundingClientRect()
      anchor.current = { x: event.clientX - frame.left, y: event.clientY - frame.top }
      const delta = event.deltaY * (event.deltaMode === 1 ? 16 : 1)
      const value = (before.current.scale / PIXELS_PER_POINT) * Math.exp(-delta * WHEEL_SPEED)
      onZoom({ value: clampZoom(value, pages) })
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [pages, onZoom])

  // Pages with evidence are drawn early, so that a click on a claim finds them ready.
  useEffect(() => {
    if (!layout || !drawings) return undefined
    const abort = new AbortController()
    const timer = setTimeout(() => {
      for (const number of [...marks.keys()].slice(0, 12)) {
        if (pages[number - 1]) drawings.draw(number, layout.size(number - 1), abort.signal, { early: true }).catch(() => {})
      }
    }, 300)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [layout, marks, drawings])

  const range = layout ? layout.between(view.top - view.height / 2, view.top + 1.5 * view.height) : null
  const visible = []
  for (let index = range?.first ?? 0; range && index <= range.last; index++) visible.push(index)

  handle.current = {
    show,
    showPageOf: (number) => visible.includes(number - 1) || show(number),
    focus: () => scroller.current.focus({ preventScroll: true }),
  }
  return html`<div class="page-stack" ref=${scroller} tabindex="0" role="region" aria-label=${label} aria-busy=${!source} onScroll=${look}>
    ${layout &&
    html`<div class="pages-all" style=${{ width: `${Math.max(layout.width, view.width)}px`, height: `${layout.height}px` }}>
      ${visible.map(
        (index) =>
          html`<${PageView}
            key=${pages[index].number}
            number=${index + 1}
            total=${pages.length}
            page=${pages[index]}
            size=${layout.size(index)}
            left=${layout.left(index)}
            top=${layout.tops[index]}
            source=${source}
            drawings=${drawings}
            marks=${marks.get(index + 1) ?? NO_MARKS}
            onSelect=${onSelect}
            query=${query}
            hit=${hit?.page === index + 1 ? hit.index : -1}
            onHit=${(rectangle) => {
              const frame = scroller.current.getBoundingClientRect()
              const { left, top } = position.current
              const [x, y] = [left - frame.left, top - frame.top]
              showRectangle({ left: rectangle.left + x, right: rectangle.right + x, top: rectangle.top + y, bottom: rectangle.bottom + y })
            }}
          />`,
      )}
    </div>`}
  </div>`
}

const NO_MARKS = []

function PageView({ number, total, page, size, left, top, source, drawings, marks, onSelect, query, hit, onHit }) {
  const element = useRef()
  const holder = useRef()
  const text = useRef()
  const [state, setState] = useState('drawing')
  const [round, setRound] = useState(0)
  const [nodes, setNodes] = useState(null)
  const [under, setUnder] = useState(NO_MARKS)
  const showsOld = useRef(false)

  useLayoutEffect(() => {
    const canvas = drawings?.find(number)
    if (!canvas) return
    holder.current.replaceChildren(canvas)
    showsOld.current = true
    if (drawings.has(number, size)) setState('drawn')
  }, [drawings])

  useEffect(() => {
    if (!drawings) return undefined
    const abort = new AbortController()
    const draw = () =>
      drawings.draw(number, size, abort.signal).then(
        (canvas) => {
          if (abort.signal.aborted || !holder.current) return
          holder.current.replaceChildren(canvas)
          showsOld.current = true
          setState('drawn')
        },
        () => abort.signal.aborted || setState('failed'),
      )
    // While the zoom changes, the old drawing is stretched.
    const timer = setTimeout(draw, showsOld.current && !drawings.has(number, size) ? SETTLED : 0)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [drawings, size.width, size.height, round])

  const drawn = state === 'drawn'
  useEffect(() => {
    // A page that is scrolled away may be gone by the time its effects run.
    if (!drawn || !text.current) return undefined
    const abort = new AbortController()
    text.current.replaceChildren()
    source.layer(number, text.current, abort.signal).then(
      (found) => abort.signal.aborted || setNodes(found),
      () => {},
    )
    return () => abort.abort()
  }, [drawn, source])

  useEffect(() => {
    if (!nodes || !query) return undefined
    let release = () => {}
    let ended = false
    source.text(number).then((parts) => {
      if (ended) return
      const ranges = find(parts, query).map((match) => rangeOf(match, nodes))
      release = highlight(ranges.filter(Boolean), ranges[hit])
      if (ranges[hit]) onHit(ranges[hit].getBoundingClientRect())
    })
    return () => {
      ended = true
      release()
    }
  }, [nodes, query, hit])

  const keysUnder = (event) => {
    const frame = element.current.getBoundingClientRect()
    const x = ((event.clientX - frame.left) / frame.width) * page.width
    const y = ((event.clientY - frame.top) / frame.height) * page.height
    return keysAt(marks, x, y)
  }
  const onClick = (event) => {
    if (!getSelection().isCollapsed) return
    const keys = keysUnder(event)
    if (keys.length) onSelect(keys, { x: event.clientX, y: event.clientY })
  }
  const onPointerMove = (event) => {
    if (!marks.length || event.buttons) return
    const keys = keysUnder(event)
    if (keys.join() !== under.join()) setUnder(keys)
  }
  return html`<div
    class="page-view ${under.length ? 'over-mark' : ''}"
    role="group"
    aria-label=${t('viewer.pageOf', { page: number, pages: total })}
    data-page=${number}
    data-state=${state}
    ref=${element}
    style=${{ left: `${left}px`, top: `${top}px`, width: `${size.width}px`, height: `${size.height}px`, '--page-width': `${size.width}` }}
    onClick=${onClick}
    onPointerMove=${onPointerMove}
    onPointerLeave=${() => under.length && setUnder(NO_MARKS)}
  >
    <div class="page-drawing" ref=${holder} aria-hidden="true"></div>
    <div class="page-text" ref=${text} onPointerDown=${startSelection}></div>
    <div class="page-marks">
      ${marks.map(
        (mark) =>
          html`<button
            type="button"
            class="page-mark ${mark.active ? 'active' : ''} ${mark.keys.includes(under[0]) ? 'hovered' : ''}"
            style=${percentages(mark.box, page)}
            data-keys=${mark.keys.join(' ')}
            aria-label=${mark.label}
            aria-current=${mark.active ? 'true' : undefined}
            onClick=${(event) => {
              event.stopPropagation()
              const frame = event.currentTarget.getBoundingClientRect()
              onSelect(mark.keys, { x: frame.left, y: frame.bottom })
            }}
          >
            ${mark.tag && html`<span class="mark-tag" aria-hidden="true">${mark.tag}</span>`}
          </button>`,
      )}
    </div>
    ${state === 'failed' &&
    html`<div class="page-failed">
      <p>${t('viewer.pageFailed')}</p>
      <button
        type="button"
        class="button small"
        onClick=${(event) => {
          event.stopPropagation()
          setState('drawing')
          setRound(round + 1)
        }}
      >
        ${t('common.retry')}
      </button>
    </div>`}
  </div>`
}

/** A selection that leaves the text would jump to the start of the page; the end of the text holds it. */
function startSelection(event) {
  const layer = event.currentTarget
  layer.classList.add('selecting')
  addEventListener('pointerup', () => layer.classList.remove('selecting'), { once: true })
}

function rangeOf({ start, end }, nodes) {
  const [from, to] = [nodes[start.part], nodes[end.part]]
  if (!from || !to) return null
  const range = document.createRange()
  range.setStart(from, Math.min(start.offset, from.length))
  range.setEnd(to, Math.min(end.offset, to.length))
  return range
}
