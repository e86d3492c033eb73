/** Ask. */
import { html } from '../ui/index.js'

export function Ask() {
  return html`<div class="page"><h1>Ask</h1></div>`
}
