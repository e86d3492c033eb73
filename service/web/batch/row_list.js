/** The rows of a batch, filtered by their outcome. */

import { EmptyState, Icon, formatNumber, formatSeconds, go, html, routeTo, t, useEffect, useState } from '../ui/index.js'
import { hasEnded } from '../library/jobs.js'
import { misses } from './rows.js'

export const STATUSES = ['answered', 'evidence', 'unanswerable', 'error']
export const STATUS_ICONS = { answered: 'check', evidence: 'quote', unanswerable: 'search', error: 'warning' }
const PAGE_SIZE = 100

/** @param {{job: import('../library/jobs.js').Job, rows: import('./rows.js').Row[], show: string}} props */
export function RowList({ job, rows, show }) {
  const [count, setCount] = useState(PAGE_SIZE)
  useEffect(() => setCount(PAGE_SIZE), [show])
  const groups = groupsOf(rows)
  const shown = groups.get(show) ?? rows
  if (!rows.length) {
    return hasEnded(job)
      ? html`<${EmptyState} icon="batch" title=${t('batch.noRows')} />`
      : html`<p class="rows-waiting" role="status">${t('batch.waiting')}</p>`
  }
  return html`<section class="rows" aria-label=${t('batch.rows')}>
    <div class="row-filter" role="group" aria-label=${t('batch.filter')}>
      ${[...groups].map(
        ([key, found]) =>
          html`<button type="button" class="chip ${key === show ? 'accent' : ''}" aria-pressed=${key === show} onClick=${() => go(['batches', job.id], { show: key === 'all' ? '' : key }, { replace: true })}>
            <span>${t(key === 'all' || key === 'misses' ? `batch.${key}Rows` : `batch.statuses.${key}`)}</span><span class="chip-count">${formatNumber(found.length)}</span>
          </button>`,
      )}
    </div>
    ${show === 'misses' ? html`<${Misses} job=${job} rows=${shown.slice(0, count)} />` : html`<${Rows} job=${job} rows=${shown.slice(0, count)} />`}
    ${shown.length > count &&
    html`<button type="button" class="button small" onClick=${() => setCount(count + PAGE_SIZE)}>${t('graph.moreEntities', { count: shown.length - count })}</button>`}
  </section>`
}

/** The rows by what is shown: all, those of a status, and the misses where there are gold answers. */
export function groupsOf(rows) {
  const groups = new Map([['all', rows]])
  for (const status of STATUSES) {
    const found = rows.filter((row) => row.status === status)
    if (found.length) groups.set(status, found)
  }
  const missed = misses(rows)
  if (missed.length) groups.set('misses', missed)
  return groups
}

function Rows({ job, rows }) {
  return html`<ol class="row-list">
    ${rows.map(
      (row) =>
        html`<li key=${row.index}>
          <a href=${routeTo(['batches', job.id], { row: String(row.index) })}>
            <span class="row-number">${formatNumber(row.index + 1)}</span>
            <span class="row-state is-${row.status}"><${Icon} name=${STATUS_ICONS[row.status]} size="16" /><span class="visually-hidden">${t(`batch.statuses.${row.status}`)}</span></span>
            <span class="row-body">
              <span class="row-question" dir="auto">${row.question}</span>
              <span class="row-answer" dir="auto">${row.answer || row.error || t(`batch.statuses.${row.status}`)}</span>
            </span>
            <span class="row-facts">
              ${row.gold !== null && row.right !== null && html`<${Right} right=${row.right} />`}
              ${row.seconds > 0 && html`<span>${formatSeconds(row.seconds)}</span>`}
            </span>
          </a>
        </li>`,
    )}
  </ol>`
}

/** How right an answer is. @param {{right: number}} props */
export function Right({ right }) {
  const kind = right >= 1 ? 'full' : right > 0 ? 'part' : 'none'
  return html`<span class="right ${kind}">${t(`batch.right.${kind}`, { percent: Math.round(100 * right) })}</span>`
}

function Misses({ job, rows }) {
  return html`<div class="table-scroll" role="region" aria-label=${t('batch.missesRows')} tabindex="0">
    <table class="data-table">
      <thead>
        <tr>
          <th scope="col">${t('batch.number')}</th>
          <th scope="col">${t('batch.question')}</th>
          <th scope="col">${t('batch.expected')}</th>
          <th scope="col">${t('batch.given')}</th>
          <th scope="col">${t('batch.score.right')}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr key=${row.index}>
              <td class="numeric">${formatNumber(row.index + 1)}</td>
              <th scope="row"><a href=${routeTo(['batches', job.id], { row: String(row.index) })} dir="auto">${row.question}</a></th>
              <td dir="auto">${row.gold}</td>
              <td><span class="miss-answer" dir="auto">${row.answer || row.error || t(`batch.statuses.${row.status}`)}</span></td>
              <td><${Right} right=${row.right ?? 0} /></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
