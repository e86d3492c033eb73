/** Batches: a file of questions, its rows as they come in, and its results. */

import { get, upload } from '../api.js'
import { BatchHead } from '../batch/head.js'
import { BatchRow } from '../batch/row.js'
import { RowList } from '../batch/row_list.js'
import { useRows } from '../batch/rows.js'
import { hasEnded, jobs, loadJobs, putJob } from '../library/jobs.js'
import { EmptyState, ErrorState, Icon, Spinner, errorTitle, formatDate, go, html, t, useAsync, useRef, useState } from '../ui/index.js'
import { useStore } from '../ui/store.js'

/** @param {{route: import('../ui/route.js').Route}} props */
export function Batch({ route }) {
  const id = route.path[1]
  const loading = useAsync(loadJobs, [])
  const { list, loaded, lost } = useStore(jobs)
  if (loading.error && !loaded) return html`<div class="view-state"><${ErrorState} error=${loading.error} onRetry=${loading.reload} /></div>`
  if (!loaded) return html`<div class="view-state"><${Spinner} /></div>`
  if (!id) return html`<${Batches} list=${list.filter((job) => job.kind === 'batch')} />`
  return html`<${OneBatch} key=${id} id=${id} job=${list.find((one) => one.id === id && one.kind === 'batch')} lost=${lost} query=${route.query} />`
}

/** All batches, and where a new one begins. */
function Batches({ list }) {
  return html`<div class="page">
    <header class="page-head"><h1>${t('batch.title')}</h1></header>
    <${NewBatch} />
    ${list.length > 0 && html`<h2 class="batches-heading">${t('batch.earlier')}</h2>`}
    <ul class="batches">
      ${list.map(
        (job) =>
          html`<li key=${job.id}>
            <a href="#/batches/${job.id}">
              <span class="batch-state ${job.state}"><${Icon} name=${STATE_ICONS[job.state]} /></span>
              <span class="batch-name" dir="auto">${job.name}</span>
              <span class="batch-facts">${factsOf(job)}</span>
              <span class="batch-date">${formatDate(job.created)}</span>
            </a>
            ${!hasEnded(job) && html`<progress class="upload-progress" aria-label=${t('batch.progress', { name: job.name })} value=${job.total ? job.done : undefined} max=${job.total || 1}></progress>`}
          </li>`,
      )}
    </ul>
  </div>`
}

const STATE_ICONS = { queued: 'clock', running: 'play', succeeded: 'check', failed: 'warning', cancelled: 'stop' }

function factsOf(job) {
  if (!hasEnded(job)) return job.total ? t('batch.doneOf', { done: job.done, total: job.total }) : t('uploads.phases.queued')
  if (job.state !== 'succeeded') return t(`uploads.phases.${job.state}`)
  const { questions, scores } = job.result
  const right = scores && t('batch.rightOf', { right: Math.round(scores.right.right * 100) / 100, total: scores.right.total })
  return [t('batch.questions', { count: questions }), right].filter(Boolean).join(' · ')
}

/** Takes a question file. */
function NewBatch() {
  const input = useRef()
  const [over, setOver] = useState(false)
  const [sending, setSending] = useState('')
  const [error, setError] = useState(null)
  const send = async (file) => {
    setSending(file.name)
    setError(null)
    const form = new FormData()
    form.append('file', file, file.name)
    try {
      const job = await upload('/v1/batch', form)
      putJob(job)
      go(['batches', job.id])
    } catch (failure) {
      setError(failure)
      setSending('')
    }
  }
  const onDrop = (event) => {
    event.preventDefault()
    setOver(false)
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0])
  }
  return html`<section class="new-batch ${over ? 'over' : ''}" aria-label=${t('batch.new')}
    onDragOver=${(event) => {
      event.preventDefault()
      setOver(true)
    }}
    onDragLeave=${() => setOver(false)}
    onDrop=${onDrop}
  >
    <div class="new-batch-text">
      <h2>${t('batch.new')}</h2>
      <p>${t('batch.newText')}</p>
      <details class="fold">
        <summary><${Icon} name="chevronRight" size="16" />${t('batch.formats')}</summary>
        <ul class="format-list">
          <li><strong>JSONL</strong><code>{"question": "…", "answer": "0.91"}</code><span>${t('batch.jsonl')}</span></li>
          <li><strong>CSV</strong><code>question,answer,papers</code><span>${t('batch.csv')}</span></li>
          <li><strong>${t('batch.list')}</strong><code>1. Which model is best?</code><span>${t('batch.listText')}</span></li>
        </ul>
        <p class="format-gold">${t('batch.gold')}</p>
      </details>
    </div>
    <input
      ref=${input}
      type="file"
      hidden
      accept=".jsonl,.ndjson,.json,.csv,.tsv,.txt,.md,.markdown"
      data-testid="questions"
      onChange=${(event) => event.target.files[0] && send(event.target.files[0])}
    />
    <button type="button" class="button primary" disabled=${Boolean(sending)} onClick=${() => {
      input.current.value = ''
      input.current.click()
    }}>
      ${sending ? html`<${Spinner} label=${t('batch.sending', { name: sending })} />` : html`<${Icon} name="upload" /><span>${t('batch.choose')}</span>`}
    </button>
    ${error && html`<div class="new-batch-error"><${ErrorState} error=${error} title=${error.status ? t('batch.refused') : errorTitle(error)} /></div>`}
  </section>`
}

function OneBatch({ id, job, lost, query }) {
  const { rows, scored, error, loading } = useRows(job)
  const found = useAsync(async (signal) => job ?? get(`/v1/jobs/${encodeURIComponent(id)}`, { signal }).then((one) => putJob(one)), [])
  if (!job) {
    if (found.loading) return html`<div class="view-state"><${Spinner} /></div>`
    const action = html`<a class="button" href="#/batches">${t('batch.all')}</a>`
    return html`<div class="view-state"><${EmptyState} icon="batch" title=${t('batch.unknown')} action=${action}>${t('batch.unknownText')}<//></div>`
  }
  if (query.row !== undefined) return html`<${BatchRow} job=${job} rows=${rows} query=${query} />`
  return html`<div class="page">
    <${BatchHead} job=${job} rows=${rows} scored=${scored} lost=${lost} />
    ${error && html`<${ErrorState} error=${error} />`}
    ${!rows.length && loading
      ? html`<div class="view-state"><${Spinner} /></div>`
      : html`<${RowList} job=${job} rows=${rows} show=${query.show ?? 'all'} />`}
  </div>`
}
