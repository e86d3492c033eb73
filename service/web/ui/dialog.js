/** Modal dialogs. */

import { html, useEffect, useId, useRef } from './preact.js'
import { Icon } from './icon.js'
import { t } from './text.js'

/**
 * A modal dialog, open as long as it is rendered. Escape and a click beside it close it; the focus returns to where it was.
 *
 * @param {{title: string, onClose: () => void, children: any, footer?: any, size?: 'small' | 'medium' | 'wide' | 'full',
 *   closable?: boolean}} props
 */
export function Dialog({ title, onClose, children, footer, size = 'medium', closable = true }) {
  const element = useRef()
  const heading = useId()
  useEffect(() => {
    const focused = document.activeElement
    const dialog = element.current
    dialog.showModal()
    return () => {
      dialog.close()
      if (focused?.isConnected) focused.focus()
    }
  }, [])
  const close = () => closable && onClose()
  return html`<dialog
    ref=${element}
    class="dialog ${size}"
    aria-labelledby=${heading}
    onCancel=${(event) => {
      event.preventDefault()
      close()
    }}
    onMouseDown=${(event) => event.target === element.current && close()}
  >
    <div class="dialog-frame">
      <header class="dialog-head">
        <h2 id=${heading} dir="auto">${title}</h2>
        ${closable &&
        html`<button type="button" class="icon-button" aria-label=${t('common.close')} onClick=${onClose}>
          <${Icon} name="close" />
        </button>`}
      </header>
      <div class="dialog-body">${children}</div>
      ${footer && html`<footer class="dialog-foot">${footer}</footer>`}
    </div>
  </dialog>`
}
