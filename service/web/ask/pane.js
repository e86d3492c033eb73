/** The paper beside the answer, or over it on a narrow screen. */

import { get } from '../api.js'
import { ErrorState, Icon, Spinner, html, routeTo, stored, t, useAsync, useEffect, useRef, useState } from '../ui/index.js'
import { litIn } from './evidence.js'

const SMALLEST = 30
const LARGEST = 70
const STEP = 5
// Milliseconds; the answer is drawn first.
const PREPARING_DELAY = 150

const loadViewer = () => import('../viewer/viewer.js')

/** Loads the viewer and the beginning of a paper before its evidence is asked for. @param {string | undefined} paper */
export function usePreparedViewer(paper) {
  useEffect(() => {
    if (!paper || navigator.connection?.saveData) return undefined
    const timer = setTimeout(() => loadViewer().then(({ prepare }) => prepare(paper), () => {}), PREPARING_DELAY)
    return () => clearTimeout(timer)
  }, [paper])
}

/**
 * The page viewer with the evidence of an answer, and the papers that it cites.
 *
 * @param {{items: import('./evidence.js').Item[], active: string, titles: Map<string, string>, removed: Set<string>,
 *   onSelect: (key: string) => void, onClose: () => void}} props
 */
export function Pane({ items, active, titles, removed, onSelect, onClose }) {
  const viewer = useAsync(loadViewer, [])
  const item = items.find((one) => one.key === active)
  const papers = [...new Set(items.map((one) => one.paper))]
  const paper = item?.paper ?? papers[0]
  const lit = litIn(items, paper, active)
  const first = (id) => items.find((one) => one.paper === id && one.claim !== null) ?? items.find((one) => one.paper === id)
  const evidence = lit.map((one) => ({ ...one, claim: one.claim === null ? null : one.claim + 1 }))
  // A large library gives only some of its titles at once.
  const unnamed = titles.size ? papers.filter((id) => !titles.has(id) && !removed.has(id)) : []
  const named = useAsync((signal) => titlesOf(unnamed, signal), [unnamed.join()])
  const titleOf = (id) => titles.get(id) ?? named.data?.get(id) ?? id
  return html`<div class="pane">
    <header class="pane-head">
      ${papers.length > 1
        ? html`<select
            class="input pane-paper printed"
            aria-label=${t('ask.citedPaper')}
            value=${paper}
            onChange=${(event) => onSelect(first(event.currentTarget.value).key)}
          >
            ${papers.map((id) => html`<option value=${id}>${titleOf(id)}</option>`)}
          </select>`
        : html`<h2 class="pane-title printed" dir="auto">${titleOf(paper)}</h2>`}
      <a class="icon-button" href=${routeTo(['papers', paper], { page: item?.places[0].page })} aria-label=${t('ask.openPaper')} title=${t('ask.openPaper')}>
        <${Icon} name="external" />
      </a>
      <button type="button" class="icon-button" aria-label=${t('ask.closePaper')} title=${t('ask.closePaper')} onClick=${onClose}>
        <${Icon} name="close" />
      </button>
    </header>
    <div class="pane-body">
      ${removed.has(paper)
        ? html`<div class="view-state"><${ErrorState} error=${{ detail: t('ask.removedDetail') }} title=${t('ask.paperRemoved')} /></div>`
        : viewer.error
          ? html`<div class="view-state"><${ErrorState} error=${{ detail: t('errors.unreachableDetail') }} title=${t('app.viewFailed')} onRetry=${viewer.reload} /></div>`
          : !viewer.data
            ? html`<div class="view-state"><${Spinner} /></div>`
            : html`<${viewer.data.PageViewer} key=${paper} paper=${paper} evidence=${evidence} active=${active} onSelect=${onSelect} />`}
    </div>
  </div>`
}

async function titlesOf(papers, signal) {
  const heads = await Promise.all(papers.map(async (id) => (await get(`/v1/papers/${encodeURIComponent(id)}`, { signal })).head))
  return new Map(heads.map(({ id, title, file }) => [id, title || file]))
}

/** The pane as a sheet over the whole screen. */
export function Sheet({ label, onClose, children }) {
  const element = useRef()
  useEffect(() => {
    const focused = document.activeElement
    const dialog = element.current
    dialog.showModal()
    return () => {
      dialog.close()
      if (focused?.isConnected) focused.focus()
    }
  }, [])
  const onCancel = (event) => {
    event.preventDefault()
    onClose()
  }
  return html`<dialog class="dialog full" aria-label=${label} ref=${element} onCancel=${onCancel}>${children}</dialog>`
}

/** How wide the pane is, in percent; it is remembered. */
export function usePaneWidth() {
  const [width, setWidth] = useState(() => limited(Number(stored('pane')) || 52))
  const change = (next) => {
    setWidth(limited(next))
    stored('pane', String(limited(next)))
  }
  return [width, change]
}

/** What changes the width: dragged, or by the arrow keys. @param {{width: number, onChange: (width: number) => void}} props */
export function Splitter({ width, onChange }) {
  const onPointerDown = (event) => {
    event.preventDefault()
    const target = event.currentTarget
    const frame = target.parentElement.getBoundingClientRect()
    target.setPointerCapture(event.pointerId)
    const onMove = (moved) => onChange((100 * (frame.right - moved.clientX)) / frame.width)
    const onUp = () => {
      target.removeEventListener('pointermove', onMove)
      target.removeEventListener('pointerup', onUp)
      target.removeEventListener('pointercancel', onUp)
    }
    target.addEventListener('pointermove', onMove)
    target.addEventListener('pointerup', onUp)
    target.addEventListener('pointercancel', onUp)
  }
  const onKeyDown = (event) => {
    const to = { ArrowLeft: width + STEP, ArrowRight: width - STEP, Home: LARGEST, End: SMALLEST }[event.key]
    if (to === undefined) return
    event.preventDefault()
    onChange(to)
  }
  return html`<div
    class="splitter"
    role="separator"
    tabindex="0"
    aria-orientation="vertical"
    aria-label=${t('ask.paneWidth')}
    aria-valuemin=${SMALLEST}
    aria-valuemax=${LARGEST}
    aria-valuenow=${Math.round(width)}
    onPointerDown=${onPointerDown}
    onKeyDown=${onKeyDown}
  ></div>`
}

function limited(width) {
  return Math.min(LARGEST, Math.max(SMALLEST, width))
}
