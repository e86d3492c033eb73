/** A button in running text with a card beside it: what a mark cites, what is known of a number. */

import { html, place, useEffect, useLayoutEffect, useRef, useState } from '../ui/index.js'

const OPEN_AFTER = 180
const CLOSE_AFTER = 220

/**
 * The card opens while the pointer or the focus is on the button or in the card, and closes on Escape. Without `onClick`, a
 * click keeps it open.
 *
 * @param {{label: string, class: string, card: any, children: any, onClick?: () => void, pressed?: boolean, id?: string}} props
 */
export function Hint({ label, class: className, card, children, onClick, pressed, id }) {
  const [open, setOpen] = useState(false)
  const root = useRef()
  const button = useRef()
  const popover = useRef()
  const timer = useRef()

  // Before the card is painted: it was at the wrong place for a moment, and Escape didn't close it.
  useLayoutEffect(() => {
    if (!open) return undefined
    const follow = () => place(popover.current, button.current, 'center')
    follow()
    const onKeyDown = (event) => {
      if (event.key !== 'Escape') return
      event.stopPropagation()
      setOpen(false)
    }
    // A click scrolls a button into view that is at the edge.
    const onScroll = (event) => popover.current.contains(event.target) || follow()
    document.addEventListener('keydown', onKeyDown, true)
    document.addEventListener('scroll', onScroll, true)
    return () => {
      document.removeEventListener('keydown', onKeyDown, true)
      document.removeEventListener('scroll', onScroll, true)
    }
  }, [open])
  useEffect(() => () => clearTimeout(timer.current), [])

  const later = (next, after) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setOpen(next), after)
  }
  const onClickButton = () => {
    clearTimeout(timer.current)
    setOpen(!onClick)
    onClick?.()
  }
  return html`<span
    class="hint"
    ref=${root}
    onMouseEnter=${() => later(true, OPEN_AFTER)}
    onMouseLeave=${() => later(false, CLOSE_AFTER)}
    onFocusIn=${(event) => event.target.matches(':focus-visible') && later(true, 0)}
    onFocusOut=${(event) => root.current.contains(event.relatedTarget) || later(false, 0)}
  >
    <button
      type="button"
      id=${id}
      ref=${button}
      class=${className}
      aria-label=${label}
      aria-pressed=${pressed}
      aria-expanded=${onClick ? undefined : open}
      onClick=${onClickButton}
    >
      ${children}
    </button>
    ${open && html`<span class="popover card" popover="manual" ref=${popover}>${card}</span>`}
  </span>`
}
