/** Menus of actions. */

import { html, useEffect, useId, useRef, useState } from './preact.js'
import { Icon } from './icon.js'

/**
 * A button that opens a menu. Arrow keys, Home, End and letters move in it; Escape closes it.
 *
 * @param {{label: string, icon?: string, text?: string, class?: string, align?: 'start' | 'end',
 *   items: {label: string, icon?: string, danger?: boolean, disabled?: boolean, onSelect: () => void}[]}} props
 */
export function Menu({ label, icon = 'more', text, items, align = 'end', class: className = '' }) {
  const [open, setOpen] = useState(false)
  const root = useRef()
  const button = useRef()
  const list = useRef()
  const id = useId()
  const entries = () => [...list.current.querySelectorAll('[role=menuitem]:not(:disabled)')]

  useEffect(() => {
    if (!open) return undefined
    place(list.current, button.current, align)
    entries()[0]?.focus()
    const outside = (event) => root.current.contains(event.target) || setOpen(false)
    const away = () => setOpen(false)
    document.addEventListener('pointerdown', outside)
    addEventListener('resize', away)
    return () => {
      document.removeEventListener('pointerdown', outside)
      removeEventListener('resize', away)
    }
  }, [open])

  const close = () => {
    setOpen(false)
    button.current.focus()
  }
  const onKeyDown = (event) => {
    const all = entries()
    const at = all.indexOf(document.activeElement)
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }
    if (event.key in moves) {
      all.at(moves[event.key] % all.length).focus()
    } else if (event.key === 'Escape') {
      event.stopPropagation()
      close()
    } else if (event.key === 'Tab') {
      setOpen(false)
      return
    } else if (event.key.length === 1 && event.key !== ' ') {
      const rest = [...all.slice(at + 1), ...all]
      rest.find((one) => one.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus()
      return
    } else {
      return
    }
    event.preventDefault()
  }
  return html`<span class="menu" ref=${root}>
    <button
      ref=${button}
      type="button"
      class=${text ? `button quiet ${className}` : `icon-button ${className}`}
      aria-label=${text ? undefined : label}
      title=${text ? undefined : label}
      aria-haspopup="menu"
      aria-expanded=${open}
      aria-controls=${open ? id : undefined}
      onClick=${() => setOpen(!open)}
    >
      <${Icon} name=${icon} />${text && html`<span>${text}</span>`}
    </button>
    ${open &&
    html`<div class="menu-list" popover="manual" role="menu" id=${id} aria-label=${label} ref=${list} onKeyDown=${onKeyDown}>
      ${items.map(
        (item) =>
          html`<button
            type="button"
            role="menuitem"
            tabindex="-1"
            class=${item.danger ? 'danger' : ''}
            disabled=${item.disabled}
            onClick=${() => {
              close()
              item.onSelect()
            }}
          >
            ${item.icon && html`<${Icon} name=${item.icon} />`}<span>${item.label}</span>
          </button>`,
      )}
    </div>`}
  </span>`
}

/**
 * Shows a popover below an anchor, or above it where there is no room.
 *
 * @param {HTMLElement} popover @param {Element} anchor @param {'start' | 'end' | 'center'} align
 */
export function place(popover, anchor, align = 'start') {
  if (!popover.matches(':popover-open')) popover.showPopover()
  const at = anchor.getBoundingClientRect()
  const size = popover.getBoundingClientRect()
  const gap = 6
  const left = { start: at.left, end: at.right - size.width, center: at.left + at.width / 2 - size.width / 2 }[align]
  const below = at.bottom + gap + size.height <= innerHeight || at.top < size.height + gap
  popover.style.left = `${Math.max(8, Math.min(left, innerWidth - size.width - 8))}px`
  popover.style.top = `${Math.max(8, below ? at.bottom + gap : at.top - gap - size.height)}px`
}
