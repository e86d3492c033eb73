/** Messages at the edge of the page, which may offer to undo something. */

import { html, useEffect, useState } from './preact.js'
import { Icon } from './icon.js'
import { errorTitle } from './states.js'
import { t } from './text.js'

const SECONDS = 6
let toasts = []
let following = 1
const listeners = new Set()

function change(next) {
  toasts = next
  listeners.forEach((listen) => listen(next))
}

/**
 * Shows a message. With `undo`, it offers to undo; `commit` is called once it is gone without that, also if the page is
 * left (unless `leaving` is false).
 *
 * @param {string} text
 * @param {{kind?: 'info' | 'error', undo?: () => void, commit?: () => void, leaving?: boolean,
 *   seconds?: number}} [options]
 */
export function toast(text, { kind = 'info', undo, commit, leaving = true, seconds = SECONDS } = {}) {
  const id = following++
  toasts.slice(0, -3).forEach((one) => end(one))
  change([...toasts, { id, text, kind, undo, commit, leaving, seconds }])
}

/**
 * Does something that a button is for, and says that it was done, or that it failed: a request of the API, or else the
 * clipboard.
 *
 * @param {() => unknown} work @param {string} [message]
 */
export const attempt = (work, message) => async () => {
  try {
    await work()
    if (message) toast(message)
  } catch (error) {
    toast(error.status === undefined ? t('common.copyFailed') : errorTitle(error), { kind: 'error' })
  }
}

function end(toast, { undone = false } = {}) {
  if (!toasts.includes(toast)) return
  change(toasts.filter((one) => one !== toast))
  if (undone) toast.undo()
  else toast.commit?.()
}

addEventListener('pagehide', () => toasts.forEach((one) => one.leaving && one.commit?.()))

/** Where messages appear. */
export function Toasts() {
  const [shown, setShown] = useState(toasts)
  useEffect(() => {
    listeners.add(setShown)
    return () => listeners.delete(setShown)
  }, [])
  return html`<div class="toasts" role="status" aria-live="polite">
    ${shown.map((one) => html`<${Message} key=${one.id} toast=${one} />`)}
  </div>`
}

function Message({ toast: one }) {
  const [held, setHeld] = useState(false)
  useEffect(() => {
    if (held) return undefined
    const timer = setTimeout(() => end(one), one.seconds * 1000)
    return () => clearTimeout(timer)
  }, [held])
  return html`<div
    class="toast ${one.kind}"
    onMouseEnter=${() => setHeld(true)}
    onMouseLeave=${() => setHeld(false)}
    onFocusIn=${() => setHeld(true)}
    onFocusOut=${() => setHeld(false)}
  >
    <span class="toast-text" dir="auto">${one.text}</span>
    ${one.undo &&
    html`<button class="link" onClick=${() => end(one, { undone: true })}>${t('common.undo')}</button>`}
    <button class="icon-button small" aria-label=${t('common.dismiss')} onClick=${() => end(one)}>
      <${Icon} name="close" size="14" />
    </button>
  </div>`
}
