/** A field that searches while one types. */

import { Icon } from './icon.js'
import { html } from './preact.js'

/** @param {{label: string, hint?: string, value: string, onType: (text: string) => void}} props */
export function SearchField({ label, hint = label, value, onType }) {
  return html`<div class="search-field">
    <${Icon} name="search" />
    <input type="search" class="input" aria-label=${label} placeholder=${hint} value=${value} onInput=${(event) => onType(event.target.value)} />
  </div>`
}
