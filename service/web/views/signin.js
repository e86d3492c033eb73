/** The sign-in: an API key becomes a session, whose cookie scripts can't read. */

import { post } from '../api.js'
import { Dialog, Icon, Spinner, errorTitle, html, stored, t, useId, useState } from '../ui/index.js'

/** @param {{onDone: () => void}} props `onDone` is called once there is a session */
export function SignIn({ onDone }) {
  const id = useId()
  const [key, setKey] = useState('')
  const [error, setError] = useState(null)
  const [busy, setBusy] = useState(false)
  const [hasExpired] = useState(() => stored('signed-in') !== null)
  const submit = async (event) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await post('/v1/session', { key: key.trim() })
      stored('signed-in', 'yes')
      onDone()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return html`<${Dialog} title=${t(hasExpired ? 'signin.expired' : 'signin.title')} size="small" closable=${false} onClose=${() => {}}>
    <form class="signin" onSubmit=${submit}>
      <p>${t(hasExpired ? 'signin.expiredText' : 'signin.text')}</p>
      <div class="field">
        <label for=${id}>${t('signin.key')}</label>
        <input
          id=${id}
          class="input"
          type="password"
          name="password"
          autocomplete="current-password"
          autofocus
          required
          spellcheck=${false}
          aria-invalid=${Boolean(error)}
          aria-describedby="${id}-hint"
          value=${key}
          onInput=${(event) => setKey(event.target.value)}
        />
        <p class="hint" id="${id}-hint">${t('signin.hint')} <code>paperscope keys create NAME</code></p>
      </div>
      ${error &&
      html`<p class="note bad" role="alert">
        <${Icon} name="warning" /><span>${error.status === 401 ? t('signin.refused') : error.detail || errorTitle(error)}</span>
      </p>`}
      <button class="button primary" disabled=${busy || !key.trim()}>
        ${busy ? html`<${Spinner} label=${t('signin.busy')} />` : html`<${Icon} name="key" /><span>${t('signin.submit')}</span>`}
      </button>
    </form>
  <//>`
}
