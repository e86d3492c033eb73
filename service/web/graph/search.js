/** A search field for entities, with the matches below it. */

import { get } from '../api.js'
import { Icon, errorTitle, html, t, useAsync, useDebounced, useId, useState } from '../ui/index.js'
import { KindDot, kindName } from './kinds.js'

const LIMIT = 12

/** @param {{onChoose: (entity: string) => void, autofocus?: boolean}} props */
export function EntitySearch({ onChoose, autofocus = false }) {
  const id = useId()
  const [text, setText] = useState('')
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(0)
  const wanted = useDebounced(text.trim(), 150)
  const found = useAsync(
    async (signal) => (wanted ? get(`/v1/graph/search?${new URLSearchParams({ query: wanted, limit: LIMIT })}`, { signal }) : { entities: [] }),
    [wanted],
  )
  const matches = text.trim() ? found.data?.entities ?? [] : []
  const isOpen = open && text.trim() !== ''
  const choose = (entity) => {
    setOpen(false)
    setText('')
    onChoose(entity.id)
  }
  const onKeyDown = (event) => {
    if (event.key === 'Escape') setOpen(false)
    if (event.key === 'Enter' && matches[active]) choose(matches[active])
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step || !matches.length) return
    event.preventDefault()
    setOpen(true)
    setActive((active + step + matches.length) % matches.length)
  }
  return html`<div class="entity-search search-field">
    <${Icon} name="search" />
    <input
      type="text"
      class="input"
      role="combobox"
      aria-label=${t('graph.search')}
      aria-expanded=${isOpen}
      aria-controls="${id}-list"
      aria-autocomplete="list"
      aria-activedescendant=${isOpen && matches.length ? `${id}-${active}` : undefined}
      autocomplete="off"
      spellcheck=${false}
      placeholder=${t('graph.searchHint')}
      value=${text}
      ref=${(input) => autofocus && input && !text && matchMedia('(pointer: fine)').matches && input.focus()}
      onInput=${(event) => {
        setText(event.target.value)
        setActive(0)
        setOpen(true)
      }}
      onFocus=${() => setOpen(true)}
      onBlur=${() => setOpen(false)}
      onKeyDown=${onKeyDown}
    />
    <ul id="${id}-list" class="entity-matches" role="listbox" aria-label=${t('graph.matches')} hidden=${!isOpen || !matches.length}>
      ${matches.map(
        (one, index) =>
          html`<li
            key=${one.id}
            id="${id}-${index}"
            role="option"
            aria-selected=${index === active}
            onMouseDown=${(event) => event.preventDefault()}
            onClick=${() => choose(one)}
            onMouseEnter=${() => setActive(index)}
          >
            <${KindDot} kind=${one.type} />
            <span class="entity-match-name" dir="auto">${one.name}</span>
            <span class="entity-match-facts">${kindName(one.type)} · ${t('graph.relations', { count: one.relations })}</span>
          </li>`,
      )}
    </ul>
    ${isOpen &&
    !matches.length &&
    html`<p class="entity-matches none" role="status">
      ${found.error ? found.error.detail || errorTitle(found.error) : found.loading || wanted !== text.trim() ? t('common.loading') : t('graph.noMatch')}
    </p>`}
  </div>`
}
