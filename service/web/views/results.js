/** Results: what the papers' tables report, by dataset and metric, the best first; each value opens its cell. */

import { get, patch } from '../api.js'
import { YearChart } from '../literature/year_chart.js'
import { EmptyState, ErrorState, Icon, Spinner, errorTitle, formatNumber, html, placesQuery, t, toast, useAsync, useDebounced, useState } from '../ui/index.js'

const PAGE_SIZE = 20
const NAMED = ['method', 'dataset', 'metric']

/** @param {{route: import('../ui/route.js').Route}} props */
export function Results({ route }) {
  const [dataset, setDataset] = useState(route.query.dataset ?? '')
  const [metric, setMetric] = useState(route.query.metric ?? '')
  const [limit, setLimit] = useState(PAGE_SIZE)
  const query = useDebounced(`dataset=${encodeURIComponent(dataset.trim())}&metric=${encodeURIComponent(metric.trim())}`)
  const path = `/v1/results?${query}&limit=${limit}`
  const found = useAsync((signal) => get(path, { signal }), [path])
  const { leaderboards = [], total = 0 } = found.data ?? {}
  const separate = async (one, kind) => {
    const paper = one.evidence.place.paper
    const apart = !one.apart.includes(kind)
    const id = one[`${kind}_id`]
    try {
      await patch('/v1/results', { paper, entity: apart ? id : id.slice(0, -` (${paper})`.length), apart })
      found.reload()
    } catch (error) {
      toast(error.detail || errorTitle(error), { kind: 'error' })
    }
  }
  const field = (name, value, set) =>
    html`<div class="field">
      <label for="results-${name}">${t(`results.${name}`)}</label>
      <input id="results-${name}" class="input" type="search" maxlength="300" value=${value} onInput=${(event) => set(event.currentTarget.value)} />
    </div>`
  return html`<div class="page results">
    <header class="page-head"><h1>${t('results.title')}</h1></header>
    <p class="hint">${t('results.intro')}</p>
    <form class="results-search" role="search" onSubmit=${(event) => event.preventDefault()}>
      ${field('dataset', dataset, setDataset)} ${field('metric', metric, setMetric)}
    </form>
    ${found.error && html`<${ErrorState} error=${found.error} onRetry=${found.reload} />`}
    ${!found.data && !found.error && html`<${Spinner} />`}
    ${found.data && !total && html`<${EmptyState} icon="table" title=${t('results.none')}>${t('results.noneText')}<//>`}
    <p class="visually-hidden" role="status">${found.data ? t('results.found', { count: total }) : ''}</p>
    ${leaderboards.map((board) => html`<${Board} key=${`${board.dataset} ${board.metric}`} board=${board} onSeparate=${separate} />`)}
    ${total > leaderboards.length &&
    html`<button type="button" class="button" onClick=${() => setLimit(limit + PAGE_SIZE)}>${t('results.more', { count: total - leaderboards.length })}</button>`}
  </div>`
}

function Board({ board, onSeparate }) {
  const name = t('results.board', { dataset: board.dataset, metric: board.metric })
  return html`<section class="results-board">
    <h2 dir="auto">${name} ${board.better && html`<span class="chip">${t(`results.better.${board.better}`)}</span>`}</h2>
    <div class="table-scroll" role="region" aria-label=${name} tabindex="0">
      <table class="data-table">
        <thead>
          <tr>
            <th scope="col">${t('results.method')}</th>
            <th scope="col" class="numeric">${t('results.value')}</th>
            <th scope="col">${t('results.setting')}</th>
            <th scope="col">${t('results.source')}</th>
          </tr>
        </thead>
        <tbody>
          ${board.results.map((one) => html`<${Row} one=${one} onSeparate=${onSeparate} />`)}
        </tbody>
      </table>
    </div>
    <${YearChart} label=${t('results.byYear', { metric: name })} points=${board.results.filter((one) => one.year).map(pointOf)} />
    ${board.disagreements.map(
      (group) =>
        html`<p class="note warn"><${Icon} name="warning" /><span>${t('results.differ', { method: group[0].method })} ${group.map((one, at) => html`${at ? '; ' : ''}<${Value} one=${one} /> (${one.evidence.name})`)}</span></p>`,
    )}
  </section>`
}

function Row({ one, onSeparate }) {
  return html`<tr>
    <th scope="row" dir="auto">${one.method}</th>
    <td class="numeric"><${Value} one=${one} /></td>
    <td dir="auto">${one.setting}</td>
    <td>
      <span dir="auto">${one.evidence.name}</span>
      <details class="fold">
        <summary><${Icon} name="chevronRight" size="14" />${t('results.reasons', { count: one.reasons.length })}</summary>
        <ul class="results-reasons">
          ${one.reasons.map((reason) => html`<li dir="auto">${reason}</li>`)}
        </ul>
        ${NAMED.map((kind) => html`<button type="button" class="button quiet small" onClick=${() => onSeparate(one, kind)}>${t(one.apart.includes(kind) ? 'results.join' : 'results.separate', { name: one[kind] })}</button>`)}
      </details>
    </td>
  </tr>`
}

/** The address of a value's cell. */
function cellOf({ place, more_places: more }) {
  return `#/papers/${place.paper}?at=${placesQuery([place, ...more])}`
}

/** A value as a point of the chart. @returns {import('../literature/year_chart.js').Point} */
function pointOf({ method, value, year, evidence }) {
  const label = t('results.point', { method, value: evidence.quote, year: String(year) })
  return { year, value: Number(value), label, href: cellOf(evidence) }
}

/** A value, which opens its cell. */
function Value({ one }) {
  const { evidence } = one
  const label = t('results.open', { value: evidence.quote, name: evidence.name })
  return html`<a href=${cellOf(evidence)} aria-label=${label} title=${label}>${evidence.quote || formatNumber(one.value)}</a>`
}
