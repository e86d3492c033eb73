/** The box for a question, with its sources. */

import { post } from '../api.js'
import { boundsText } from '../library/estimate.js'
import { Dialog, Icon, html, t, useEffect, useRef, useState } from '../ui/index.js'
import { given } from './conversations.js'
import { FilterChips, FilterDialog, describe, without } from './filters.js'

const LONGEST = 4000
const SHOW_COUNT_FROM = 3500

/**
 * @param {{filters: object, titles: Map<string, string>, onFilters: (filters: object) => void, followUp: boolean,
 *   asking: boolean, onAsk: (question: string, eachPaper: boolean) => void, onStop: () => void, draft?: string}} props
 */
export function Composer({ filters, titles, onFilters, followUp, asking, onAsk, onStop, draft = '' }) {
  const [text, setText] = useState(draft)
  const [choosing, setChoosing] = useState(false)
  const [each, setEach] = useState(false)
  const [estimate, setEstimate] = useState('')
  const box = useRef()

  useEffect(() => {
    if (draft) setText(draft)
  }, [draft])
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) box.current.focus({ preventScroll: true })
    const onKeyDown = (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest('input, textarea, select, [contenteditable], dialog')) return
      event.preventDefault()
      box.current.focus()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  useEffect(() => {
    box.current.style.height = 'auto'
    box.current.style.height = `${box.current.scrollHeight}px`
  }, [text])

  const question = text.trim()
  const tooLong = question.length > LONGEST
  const ready = question && !asking && !tooLong
  const submit = (event) => {
    event.preventDefault()
    if (!ready) return
    if (each && !estimate) estimateEach()
    else send()
  }
  const send = () => {
    onAsk(question, each)
    setText('')
    setEstimate('')
  }
  /** Asks before something is paid. What can't be estimated is asked, and the answer says what is wrong. */
  const estimateEach = async () => {
    setEstimate(t('estimate.reading'))
    const found = await post('/v1/query/estimate', { question, each_paper: true, ...given(filters) }).catch(() => null)
    const calls = Object.values(found?.least ?? {}).reduce((sum, role) => sum + role.calls, 0)
    if (calls) setEstimate(boundsText(found))
    else send()
  }
  const onKeyDown = (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event)
  }
  const restricted = describe(filters, titles).length > 0
  const scope = t(restricted ? 'ask.filters.change' : 'ask.filters.wholeLibrary')
  const label = t(followUp ? 'ask.followUp' : 'ask.question')
  return html`<form class="composer ${followUp ? 'compact' : ''}" onSubmit=${submit}>
    <${FilterChips} filters=${filters} titles=${titles} onRemove=${(chip) => onFilters(without(filters, chip))} />
    <div class="composer-box">
      <textarea
        ref=${box}
        id="question"
        rows="1"
        dir="auto"
        aria-label=${label}
        placeholder=${label}
        aria-invalid=${tooLong}
        aria-describedby=${tooLong ? 'question-length' : undefined}
        value=${text}
        onInput=${(event) => setText(event.currentTarget.value)}
        onKeyDown=${onKeyDown}
      ></textarea>
      <div class="scopes">
      <button type="button" class="button quiet small scope" title=${scope} onClick=${() => setChoosing(true)} aria-haspopup="dialog">
        <${Icon} name=${restricted ? 'filter' : 'library'} size=${followUp ? 18 : 16} /><span>${scope}</span>
      </button>
      <button type="button" class="button quiet small scope" title=${t('ask.eachPaperHint')} aria-pressed=${each} onClick=${() => setEach(!each)}>
        <${Icon} name="table" size=${followUp ? 18 : 16} /><span>${t('ask.eachPaper')}</span>
      </button>
      </div>
      ${question.length > SHOW_COUNT_FROM &&
      html`<span class="composer-count ${tooLong ? 'bad' : ''}" id="question-length" role="status">
        ${t('ask.length', { length: question.length, most: LONGEST })}
      </span>`}
      ${asking
        ? html`<button type="button" class="send" aria-label=${t('ask.stop')} title=${t('ask.stop')} onClick=${onStop}><${Icon} name="stop" /></button>`
        : html`<button type="submit" class="send" aria-label=${t('ask.send')} title=${t('ask.send')} disabled=${!ready}><${Icon} name="send" /></button>`}
    </div>
    ${estimate &&
    html`<${Dialog}
      title=${t('estimate.eachTitle')}
      size="small"
      onClose=${() => setEstimate('')}
      footer=${html`<button type="button" class="button" onClick=${() => setEstimate('')}>${t('common.cancel')}</button>
        <button type="button" class="button primary" onClick=${send}>${t('estimate.ask')}</button>`}
    >
      <p>${t('estimate.eachText')}</p>
      <p role="status">${estimate}</p>
    <//>`}
    ${choosing &&
    html`<${FilterDialog}
      filters=${filters}
      onClose=${() => setChoosing(false)}
      onApply=${(chosen) => {
        onFilters(chosen)
        setChoosing(false)
      }}
    />`}
  </form>`
}
