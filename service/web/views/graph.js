/** The graph: an entity, its neighbourhood, and what the papers state about it. */

import { get } from '../api.js'
import { Pane, Sheet } from '../ask/pane.js'
import { canDraw, createCanvas } from '../graph/canvas.js'
import { Details } from '../graph/details.js'
import { KindDot, kindName } from '../graph/kinds.js'
import { Listing } from '../graph/listing.js'
import { collapsed, emptyPart, typeCounts, walkSteps, walkText, withNeighbourhood } from '../graph/model.js'
import { EntitySearch } from '../graph/search.js'
import {
  EmptyState,
  ErrorState,
  Icon,
  Spinner,
  errorTitle,
  formatNumber,
  go,
  html,
  routeTo,
  t,
  toast,
  useAsync,
  useEffect,
  useRef,
  useState,
} from '../ui/index.js'

const LIMITS = [120, 400, 1000]
const MAX_ENTITIES = 20_000
// Steps of a walk that the address keeps.
const MAX_STEPS = 50
const SUGGESTIONS = 14
const NONE = new Set()

/** @param {{route: import('../ui/route.js').Route}} props */
export function Graph({ route }) {
  const { entity = '', paper = '', walk = '', at = '' } = route.query
  const search = html`<${EntitySearch} autofocus=${!entity} onChoose=${(chosen) => go(['graph'], { entity: chosen })} />`
  return html`<div class="graph">
    <header class="graph-head">
      <h1>${t('graph.title')}</h1>
      ${search}
    </header>
    ${entity ? html`<${Walk} key=${`${entity} ${paper}`} entity=${entity} paper=${paper} walk=${walk} at=${at} />` : html`<${Start} paper=${paper} />`}
  </div>`
}

/** Where a walk may start: the most connected entities of a paper, by default of the newest one. */
function Start({ paper }) {
  const found = useAsync(async (signal) => {
    const head = paper
      ? (await get(`/v1/papers/${encodeURIComponent(paper)}`, { signal })).head
      : (await get('/v1/papers?sort=added&limit=1', { signal })).papers[0]
    if (!head) return { entities: [] }
    return { head, ...(await get(`/v1/graph/entities?paper=${head.id}&limit=${SUGGESTIONS}`, { signal })) }
  }, [paper])
  if (found.error) return html`<div class="view-state"><${ErrorState} error=${found.error} onRetry=${found.reload} /></div>`
  if (!found.data) return html`<div class="view-state"><${Spinner} /></div>`
  const { head, entities } = found.data
  if (!entities.length) {
    const action = html`<a class="button primary" href="#/library">${t('graph.toLibrary')}</a>`
    return html`<div class="view-state"><${EmptyState} icon="graph" title=${t('graph.empty')} action=${action}>${t('graph.emptyText')}<//></div>`
  }
  return html`<div class="view-state">
    <${EmptyState} icon="graph" title=${t('graph.start')}>
      <p>${t('graph.startText')} <span class="printed" dir="auto">${head.title || head.file}</span></p>
      <ul class="starts">
        ${entities.map(
          (one) =>
            html`<li>
              <a class="chip" href=${routeTo(['graph'], { entity: one.name, paper: head.id })}>
                <span dir="auto">${one.name}</span><span class="chip-count">${formatNumber(one.relations)}</span>
              </a>
            </li>`,
        )}
      </ul>
    <//>
  </div>`
}

/** A walk from an entity. The address keeps its steps, so that it is there again after a reload, and on the way back. */
function Walk({ entity, paper, walk, at }) {
  const [part, setPart] = useState(emptyPart)
  const [hidden, setHidden] = useState(() => new Set())
  const [selected, setSelected] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState(null)
  const [asList, setAsList] = useState(() => !canDraw())
  const [lit, setLit] = useState(null)
  const abort = useRef(new AbortController())
  const start = useRef('')

  const neighbourhood = (step) => {
    const query = new URLSearchParams({ ...step, ...(paper && step.entity === entity ? { paper } : {}) })
    return get(`/v1/graph?${query}`, { signal: abort.current.signal })
  }
  /** Expands an entity, and those of further steps that are still there; selects one of them. */
  const load = async ([first, ...further], chosen) => {
    setBusy(true)
    setError(null)
    try {
      const found = await neighbourhood(first)
      const rest = await Promise.all(further.map((step) => neighbourhood(step).catch(() => null)))
      const all = [first, ...further].map((step, index) => ({ step, found: [found, ...rest][index] })).filter((one) => one.found)
      start.current ||= found.center.id
      setPart((before) => all.reduce((grown, one) => withNeighbourhood(grown, one.found, one.step.limit), before))
      setSelected(all.some((one) => one.found.entities.some(({ id }) => id === chosen)) ? chosen : found.center.id)
    } catch (failure) {
      if (failure.name !== 'AbortError') setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const begin = () => load([{ entity, limit: LIMITS[0] }, ...walkSteps(walk, LIMITS)], at)
  useEffect(() => {
    begin()
    return () => abort.current.abort()
  }, [])
  useEffect(() => {
    if (!part.entities.size) return
    const steps = [...part.expanded].map(([id, { limit }]) => ({ entity: id, limit }))
    const further = steps.filter((step) => step.entity !== start.current || step.limit !== LIMITS[0]).slice(-MAX_STEPS)
    const kept = { walk: walkText(further, LIMITS[0]), at: selected === start.current ? '' : selected }
    go(['graph'], { entity, paper, ...kept }, { replace: true })
  }, [part, selected])

  const expand = (id, limit = LIMITS[0]) => load([{ entity: id, limit }], id)
  const select = (id) => {
    setSelected(id)
    if (part.expanded.has(id) || busy) return
    if (part.entities.size < MAX_ENTITIES) expand(id)
    else toast(t('graph.full', { count: MAX_ENTITIES }))
  }
  const more = () => {
    const before = part.expanded.get(selected)?.limit ?? 0
    expand(selected, LIMITS.find((limit) => limit > before) ?? LIMITS.at(-1))
  }
  const toggle = (kind) =>
    setHidden((before) => {
      const after = new Set(before)
      if (!after.delete(kind)) after.add(kind)
      return after
    })
  const openPlaces = (places) =>
    setLit({ key: 'place', claim: null, label: part.entities.get(selected).name, paper: places[0].paper, places })

  if (!part.entities.size) {
    if (!error) return html`<div class="view-state"><${Spinner} /></div>`
    if (error.status === 404) return html`<div class="view-state"><${EmptyState} icon="search" title=${t('graph.unknown')}><span dir="auto">${error.detail}</span><//></div>`
    return html`<div class="view-state"><${ErrorState} error=${error} onRetry=${begin} /></div>`
  }
  return html`<div class="graph-tools">
      <div class="kinds" role="group" aria-label=${t('graph.filter')}>
        ${typeCounts(part).map(
          ([kind, count]) =>
            html`<button type="button" class="chip kind" key=${kind} aria-pressed=${!hidden.has(kind)} onClick=${() => toggle(kind)}>
              <${KindDot} kind=${kind} /><span>${kindName(kind)}</span><span class="chip-count">${formatNumber(count)}</span>
            </button>`,
        )}
      </div>
      <div class="switch" role="group" aria-label=${t('graph.form')}>
        <button type="button" aria-pressed=${!asList} disabled=${!canDraw()} onClick=${() => setAsList(false)}>${t('graph.map')}</button>
        <button type="button" aria-pressed=${asList} onClick=${() => setAsList(true)}>${t('graph.list')}</button>
      </div>
    </div>
    <div class="graph-body">
      <div class="graph-main">
        ${asList
          ? html`<${Listing} part=${part} hidden=${hidden} selected=${selected} onSelect=${select} />`
          : html`<${Drawing} part=${part} hidden=${hidden} selected=${selected} onSelect=${select} onList=${() => setAsList(true)} />`}
        <p class="graph-state" role="status">
          ${busy ? html`<${Spinner} label=${t('graph.expanding')} />` : t('graph.size', { entities: part.entities.size, relations: part.relations.size })}
        </p>
        ${error && html`<div class="graph-error"><${ErrorState} error=${error} title=${error.detail ? undefined : errorTitle(error)} onRetry=${() => (selected ? expand(selected) : begin())} /></div>`}
      </div>
      ${selected &&
      part.entities.has(selected) &&
      html`<${Details}
        part=${part}
        id=${selected}
        maxRelations=${LIMITS.at(-1)}
        busy=${busy}
        onSelect=${select}
        onPlaces=${openPlaces}
        onMore=${more}
        onCollapse=${() => setPart(collapsed(part, selected))}
        onClose=${() => setSelected('')}
      />`}
    </div>
    ${lit &&
    html`<${Sheet} label=${t('ask.pane')} onClose=${() => setLit(null)}>
      <${Pane} items=${[lit]} active=${lit.key} titles=${part.files} removed=${NONE} onSelect=${() => {}} onClose=${() => setLit(null)} />
    <//>`}`
}

function Drawing({ part, hidden, selected, onSelect, onList }) {
  const container = useRef()
  const canvas = useRef(null)
  const current = useRef(onSelect)
  const [failure, setFailure] = useState(null)
  const [isReady, setReady] = useState(false)
  current.current = onSelect
  useEffect(() => {
    let isGone = false
    createCanvas(container.current, { onSelect: (id) => current.current(id) }).then(
      (created) => {
        if (isGone) return created.destroy()
        canvas.current = created
        return setReady(true)
      },
      (error) => setFailure(error),
    )
    return () => {
      isGone = true
      canvas.current?.destroy()
    }
  }, [])
  useEffect(() => canvas.current?.show(part, hidden, selected), [isReady, part, hidden, selected])
  if (failure) {
    const action = html`<button type="button" class="button" onClick=${onList}>${t('graph.showList')}</button>`
    return html`<div class="view-state"><${EmptyState} icon="warning" title=${t('graph.noDrawing')} action=${action}>${failure.message}<//></div>`
  }
  const button = (icon, label, onClick) =>
    html`<button type="button" class="icon-button" aria-label=${t(label)} title=${t(label)} onClick=${onClick}><${Icon} name=${icon} /></button>`
  return html`<div class="drawing" ref=${container} role="img" aria-label=${t('graph.drawing', { count: part.entities.size })}></div>
    <div class="zoom">
      ${button('plus', 'graph.zoomIn', () => canvas.current?.zoomIn())} ${button('minus', 'graph.zoomOut', () => canvas.current?.zoomOut())}
      ${button('expand', 'graph.fit', () => canvas.current?.fit())}
    </div>`
}
