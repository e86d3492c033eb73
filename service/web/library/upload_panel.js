/** The uploads: progress, cancelling, and why a file failed. */

import { Icon, errorTitle, html, routeTo, t, toast, useId, useState } from '../ui/index.js'
import { useStore } from '../ui/store.js'
import { jobs } from './jobs.js'
import { cancel, dismiss, dismissed, sendAgain, uploadRows, uploads } from './uploads.js'

const ICONS = { succeeded: 'check', failed: 'warning', refused: 'warning', cancelled: 'stop' }
const RESULT_KINDS = ['table', 'figure', 'equation']

export function UploadPanel() {
  const { list, lost } = useStore(jobs)
  const rows = uploadRows({ uploads: useStore(uploads), jobs: list, lost, dismissed: useStore(dismissed) })
  if (!rows.length) return null
  const ended = rows.filter(hasEnded)
  const working = rows.length - ended.length
  return html`<section class="uploads" aria-label=${t('uploads.title')}>
    <header class="uploads-head">
      <h2 aria-live="polite">${working ? t('uploads.working', { count: working }) : t('uploads.done')}</h2>
      ${ended.length > 0 && html`<button type="button" class="button small quiet" onClick=${() => ended.forEach(dismiss)}>${t('uploads.clear')}</button>`}
    </header>
    <ul>
      ${rows.map((row) => html`<${UploadItem} key=${row.key} row=${row} />`)}
    </ul>
  </section>`
}

const hasEnded = (row) => row.phase in ICONS

function UploadItem({ row }) {
  const name = html`<span class="upload-name" dir="auto">${row.phase === 'succeeded' ? row.result.title || row.name : row.name}</span>`
  const paper = row.phase === 'succeeded' && routeTo(['papers', row.result.paper])
  const stop = () => cancel(row).catch((error) => toast(error.detail || errorTitle(error), { kind: 'error' }))
  return html`<li class="upload ${row.phase}">
    <span class="upload-icon">${row.phase in ICONS ? html`<${Icon} name=${ICONS[row.phase]} />` : html`<${Ring} share=${row.share} moving=${row.phase === 'running'} />`}</span>
    <div class="upload-body">
      ${paper ? html`<a href=${paper}>${name}</a>` : name}
      ${row.reason ? html`<p class="upload-reason" dir="auto">${row.reason}</p>` : html`<p class="upload-status">${statusText(row)}</p>`}
      ${row.canSendAgain && html`<${Again} row=${row} />`}
    </div>
    ${hasEnded(row)
      ? html`<button type="button" class="icon-button small" aria-label=${t('uploads.dismiss', { name: row.name })} onClick=${() => dismiss(row)}>
          <${Icon} name="close" size="16" />
        </button>`
      : html`<button type="button" class="button small quiet" disabled=${row.cancelling} aria-label=${t('uploads.cancel', { name: row.name })} onClick=${stop}>
          ${t('common.cancel')}
        </button>`}
    ${!hasEnded(row) &&
    html`<progress class="upload-progress" aria-label=${t('uploads.progress', { name: row.name })} value=${row.share ?? undefined} max="1"></progress>`}
  </li>`
}

/** Sends a file again, with a password if it is encrypted. */
function Again({ row }) {
  const id = useId()
  const [password, setPassword] = useState(null)
  if (password === null) {
    return html`<div class="upload-again">
      <button type="button" class="button small" onClick=${() => sendAgain(row.key)}>${t('common.retry')}</button>
      ${row.phase === 'failed' &&
      row.name.toLowerCase().endsWith('.pdf') &&
      html`<button type="button" class="button small quiet" onClick=${() => setPassword('')}>${t('uploads.withPassword')}</button>`}
    </div>`
  }
  const submit = (event) => {
    event.preventDefault()
    sendAgain(row.key, { password })
  }
  return html`<form class="upload-again" onSubmit=${submit}>
    <label class="visually-hidden" for=${id}>${t('uploads.password')}</label>
    <input
      id=${id}
      class="input"
      type="password"
      autocomplete="off"
      placeholder=${t('uploads.password')}
      value=${password}
      ref=${(input) => input && !password && input.focus()}
      onInput=${(event) => setPassword(event.target.value)}
    />
    <button class="button small">${t('uploads.send')}</button>
  </form>`
}

function statusText(row) {
  if (row.lost) return t('uploads.lost')
  if (row.cancelling) return t('uploads.cancelling')
  if (row.phase === 'sending') return t('uploads.sending', { percent: Math.round(100 * row.share) })
  if (row.phase === 'running') return row.share === null ? stageText(row.stage) : t('uploads.stageCount', { stage: stageText(row.stage), done: row.done, total: row.total })
  if (row.phase !== 'succeeded') return row.stage && row.phase === 'queued' ? t('uploads.quarantine') : t(`uploads.phases.${row.phase}`)
  const { outcome, pages, elements, usage } = row.result
  const facts = [
    pages > 0 && t('library.pageCount', { count: pages }),
    ...RESULT_KINDS.map((kind) => elements[kind] && t(`library.kinds.${kind}`, { count: elements[kind] })),
    usage.calls > 0 && t('uploads.calls', { count: usage.calls }),
  ]
  return [t(`uploads.outcomes.${outcome}`), ...facts.filter(Boolean)].join(' · ')
}

const STAGES = {
  starting: 'starting',
  parsing: 'parsing',
  'reading images': 'images',
  'extracting entities': 'entities',
  embedding: 'embedding',
  storing: 'storing',
}

const stageText = (stage) => (stage in STAGES ? t(`uploads.stages.${STAGES[stage]}`) : t('uploads.stages.working'))

/** A small ring that fills; it turns while the share is unknown. */
function Ring({ share, moving }) {
  const length = 2 * Math.PI * 7.5
  const shown = share ?? (moving ? 0.25 : 0)
  return html`<svg width="20" height="20" viewBox="0 0 20 20" fill="none" class="ring ${share === null && moving ? 'turning' : ''}" aria-hidden="true">
    <circle cx="10" cy="10" r="7.5" class="spinner-track" />
    <circle cx="10" cy="10" r="7.5" class="spinner-arc" stroke-dasharray="${shown * length} ${length}" transform="rotate(-90 10 10)" />
  </svg>`
}
