/** The open cell: its value, what is doubtful in it, and its correction. */

import { Icon, html, t, useState } from '../ui/index.js'
import { stateOf } from './grid.js'

/**
 * @param {{open: {row: any, column: any, cell: any}, onClose: ?() => void, onCorrect: (text: ?string) => void}} props
 */
export function CellDetails({ open: { row, column, cell }, onClose, onCorrect }) {
  const [text, setText] = useState(null)
  const state = stateOf(cell)
  const shown = cell?.correction ?? cell?.value ?? ''
  const formulas = (cell?.checks ?? []).map((one) => one.formula).filter(Boolean)
  const send = (event) => {
    event.preventDefault()
    onCorrect(text)
    setText(null)
  }
  return html`<section class="cell-details" aria-label=${column.name}>
    <header>
      <h2 dir="auto">${column.name}</h2>
      <span class="chip">${t(`literature.states.${state}`)}</span>
      ${onClose && html`<button type="button" class="icon-button" aria-label=${t('common.close')} title=${t('common.close')} onClick=${onClose}><${Icon} name="close" /></button>`}
    </header>
    <p class="cell-of" dir="auto">${[row.title, row.name].filter(Boolean).join(' · ')}</p>
    ${text === null
      ? html`<p class="cell-value" dir="auto">${shown || '–'}</p>
          ${cell?.correction !== null && cell?.value && html`<p class="cell-of" dir="auto">${t('literature.was', { value: cell.value })}</p>`}
          <div class="batch-actions">
            <button type="button" class="button small" onClick=${() => setText(shown)}><${Icon} name="edit" size="16" /><span>${t('literature.correct')}</span></button>
            ${cell?.correction != null && html`<button type="button" class="button small" onClick=${() => onCorrect(null)}><${Icon} name="undo" size="16" /><span>${t('literature.takeBack')}</span></button>`}
          </div>`
      : html`<form onSubmit=${send}>
          <div class="field">
            <label for="cell-correction">${t('literature.correction')}</label>
            <textarea id="cell-correction" class="input" rows="3" maxlength="4000" value=${text} onInput=${(event) => setText(event.currentTarget.value)}></textarea>
          </div>
          <div class="batch-actions">
            <button type="submit" class="button primary small">${t('literature.save')}</button>
            <button type="button" class="button small" onClick=${() => setText(null)}>${t('common.cancel')}</button>
          </div>
        </form>`}
    ${(formulas.length > 0 || cell?.findings.length > 0) &&
    html`<ul class="cell-findings">
      ${formulas.map((one) => html`<li key=${one}><${Icon} name="calculator" size="16" /><span>${one}</span></li>`)}
      ${(cell?.findings ?? []).map((one) => html`<li key=${one.message}><${Icon} name="warning" size="16" /><span dir="auto">${one.message}</span></li>`)}
    </ul>`}
  </section>`
}
