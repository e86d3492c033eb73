/** Tabs. */

import { html, useId, useRef } from './preact.js'

/**
 * A list of tabs with the panel of the active one. Arrow keys, Home and End change the tab.
 *
 * @param {{label: string, tabs: {key: string, label: any}[], active: string, onChange: (key: string) => void,
 *   children: any}} props
 */
export function Tabs({ label, tabs, active, onChange, children }) {
  const id = useId()
  const list = useRef()
  const onKeyDown = (event) => {
    const at = tabs.findIndex((tab) => tab.key === active)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const index = (to + tabs.length) % tabs.length
    onChange(tabs[index].key)
    list.current.children[index].focus()
  }
  return html`<div class="tabs">
    <div class="tab-list" role="tablist" aria-label=${label} ref=${list} onKeyDown=${onKeyDown}>
      ${tabs.map(
        (tab) =>
          html`<button
            type="button"
            role="tab"
            id="${id}-${tab.key}"
            aria-selected=${tab.key === active}
            aria-controls="${id}-panel"
            tabindex=${tab.key === active ? 0 : -1}
            onClick=${() => onChange(tab.key)}
          >
            ${tab.label}
          </button>`,
      )}
    </div>
    <div class="tab-panel" role="tabpanel" id="${id}-panel" aria-labelledby="${id}-${active}" tabindex="0">${children}</div>
  </div>`
}
