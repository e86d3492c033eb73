/** Writes a note on the lit place of a paper, or on the paper; without a text, a place is only marked. */

import { post } from '../api.js'
import { Dialog, ErrorState, html, t, toast, useId, useState } from '../ui/index.js'
import { nameOf } from './evidence.js'

/** @param {{paper: string, lit?: import('./evidence.js').Evidence, onClose: () => void}} props */
export function NoteDialog({ paper, lit, onClose }) {
  const id = useId()
  const [text, setText] = useState('')
  const [error, setError] = useState(null)
  const [sending, setSending] = useState(false)
  const save = async (event) => {
    event.preventDefault()
    setSending(true)
    const { places = [], element = '', quote = '' } = lit ?? {}
    try {
      await post('/v1/notes', { paper, text, places, element: element.split('/').pop(), quote })
      toast(t(text.trim() ? 'notes.saved' : 'notes.marked'))
      onClose()
    } catch (failure) {
      setError(failure)
      setSending(false)
    }
  }
  const footer = html`<button type="submit" form="${id}-form" class="button primary" disabled=${sending || !(lit || text.trim())}>
    ${t(text.trim() || !lit ? 'notes.save' : 'notes.mark')}
  </button>`
  return html`<${Dialog} title=${t('notes.new')} onClose=${onClose} footer=${footer}>
    <form id="${id}-form" onSubmit=${save}>
      ${lit && html`<p class="hint" dir="auto">${nameOf(lit)}</p>`} ${lit?.quote && html`<blockquote class="note-quote printed" dir="auto">${lit.quote}</blockquote>`}
      <div class="field">
        <label for="${id}-text">${t('notes.text')}</label>
        <textarea id="${id}-text" class="input" rows="6" maxlength="20000" dir="auto" value=${text} onInput=${(event) => setText(event.currentTarget.value)}></textarea>
        <p class="hint">${t(lit ? 'notes.textHint' : 'notes.paperHint')}</p>
      </div>
      ${error && html`<${ErrorState} error=${error} />`}
    </form>
  <//>`
}
