/** What a view shows while it loads, when there is nothing, and when something failed. */

import { html } from './preact.js'
import { Icon } from './icon.js'
import { t } from './text.js'

/** @param {{label?: string, size?: number}} props */
export function Spinner({ label = t('common.loading'), size = 18 }) {
  return html`<span class="spinner" role="status">
    <svg width=${size} height=${size} viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <circle cx="10" cy="10" r="7.5" class="spinner-track" />
      <path d="M10 2.5a7.5 7.5 0 0 1 7.5 7.5" class="spinner-arc" />
    </svg>
    <span>${label}</span>
  </span>`
}

/** @param {{icon?: string, title: string, children?: any, action?: any}} props */
export function EmptyState({ icon = 'paper', title, children, action }) {
  return html`<div class="empty">
    <span class="empty-icon"><${Icon} name=${icon} size="28" /></span>
    <h2>${title}</h2>
    ${children && html`<div class="empty-text">${children}</div>`} ${action && html`<div class="empty-action">${action}</div>`}
  </div>`
}

/**
 * An error with what can be done about it.
 *
 * @param {{error: Error & {status?: number, title?: string, detail?: string}, onRetry?: () => void, title?: string}} props
 */
export function ErrorState({ error, onRetry, title }) {
  return html`<div class="error-state" role="alert">
    <${Icon} name=${error.status === 0 ? 'plug' : 'warning'} />
    <div>
      <strong>${title ?? errorTitle(error)}</strong>
      ${error.detail && html`<p dir="auto">${error.detail}</p>`}
      ${onRetry &&
      html`<button type="button" class="button small" onClick=${onRetry}>
        <${Icon} name="refresh" size="16" /><span>${t('common.retry')}</span>
      </button>`}
    </div>
  </div>`
}

/** @param {Error & {status?: number, title?: string}} error */
export function errorTitle(error) {
  if (error.status === 0) return t('errors.unreachable')
  return error.title || t('errors.unexpected')
}
