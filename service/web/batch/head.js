/** The head of a batch: its state, numbers, scores and results. */

import { at } from '../api.js'
import { cancelJob, hasEnded } from '../library/jobs.js'
import { usageText } from '../library/estimate.js'
import { Icon, errorTitle, formatNumber, formatSeconds, html, t, toast } from '../ui/index.js'
import { STATUSES } from './row_list.js'

/** @param {{job: import('../library/jobs.js').Job, rows: import('./rows.js').Row[], scored: boolean, lost: boolean}} props */
export function BatchHead({ job, rows, scored, lost }) {
  const stop = () => cancelJob(job.id).catch((error) => toast(error.detail || errorTitle(error), { kind: 'error' }))
  const result = at(`/v1/jobs/${job.id}/results`)
  const hasFiles = hasEnded(job) && scored
  return html`<header class="batch-head">
    <p><a class="back" href="#/batches"><${Icon} name="chevronLeft" size="16" />${t('batch.all')}</a></p>
    <div class="page-head">
      <h1 dir="auto">${job.name}</h1>
      <div class="batch-actions">
        ${rows.length > 0 && html`<a class="button small" href="${result}/answers.jsonl" download><${Icon} name="download" size="16" /><span>JSONL</span></a>`}
        ${hasFiles &&
        html`<a class="button small" href="${result}/answers.csv" download><${Icon} name="download" size="16" /><span>CSV</span></a>
          <a class="button small" href="${result}/report.md" download><${Icon} name="download" size="16" /><span>${t('batch.report')}</span></a>`}
        ${!hasEnded(job) &&
        html`<button type="button" class="button small" disabled=${job.cancelling} onClick=${stop}>
          <${Icon} name="stop" size="16" /><span>${t(job.cancelling ? 'uploads.cancelling' : 'batch.stop')}</span>
        </button>`}
      </div>
    </div>
    ${!hasEnded(job) &&
    html`<div class="batch-progress">
      <progress class="upload-progress" aria-label=${t('batch.progress', { name: job.name })} value=${job.total ? job.done : undefined} max=${job.total || 1}></progress>
      <p role="status">${progressText(job, lost)}</p>
    </div>`}
    ${job.error && html`<p class="note bad"><${Icon} name="warning" /><span dir="auto">${job.error}</span></p>`}
    ${job.state === 'cancelled' && html`<p class="note"><${Icon} name="stop" /><span>${t('batch.cancelled')}</span></p>`}
    <dl class="facts">
      ${STATUSES.map((status) => [status, rows.filter((row) => row.status === status).length])
        .filter(([, count]) => count)
        .map(([status, count]) => html`<${Fact} label=${t(`batch.statuses.${status}`)} value=${formatNumber(count)} />`)}
      ${job.result && html`<${Fact} label=${t('batch.time')} value=${formatSeconds(job.result.seconds)} /><${Fact} label=${t('batch.usage')} value=${usageText(job.result.usage)} />`}
    </dl>
    ${job.result?.scores && html`<${Scores} scores=${job.result.scores} />`}
  </header>`
}

function progressText(job, lost) {
  if (lost) return t('uploads.lost')
  if (job.total) return t('batch.doneOf', { done: job.done, total: job.total })
  return t(job.state === 'queued' ? 'uploads.phases.queued' : 'uploads.stages.starting')
}

function Fact({ label, value }) {
  return html`<div>
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`
}

function Scores({ scores }) {
  const shown = ['right', 'right_of_answered', 'answered', 'refused'].filter((key) => scores[key].total)
  return html`<section class="scores" aria-label=${t('batch.scores')}>
    <h2>${t('batch.scores')}</h2>
    <ul>
      ${shown.map((key) => {
        const { right, total } = scores[key]
        return html`<li>
          <span class="score-name">${t(`batch.score.${key}`)}</span>
          <span class="score-bar" aria-hidden="true"><span style=${{ width: `${(100 * right) / total}%` }}></span></span>
          <span class="score-value">
            <strong>${formatNumber(right / total, { style: 'percent' })}</strong>
            <span>${t('batch.ofTotal', { right: Math.round(right * 100) / 100, total })}</span>
          </span>
        </li>`
      })}
    </ul>
    <p class="score-rule">${t('batch.rule')}</p>
  </section>`
}
