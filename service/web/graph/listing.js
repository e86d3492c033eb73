/** The shown part of the graph as a list: the same without a drawing. */

import { Icon, html, t, useEffect, useState } from '../ui/index.js'
import { KindDot, kindName } from './kinds.js'
import { listed } from './model.js'

const PAGE_SIZE = 100

/** @param {{part: import('./model.js').Part, hidden: Set<string>, selected: string, onSelect: (id: string) => void}} props */
export function Listing({ part, hidden, selected, onSelect }) {
  const [count, setCount] = useState(PAGE_SIZE)
  const entities = listed(part, hidden)
  useEffect(() => setCount(PAGE_SIZE), [hidden])
  return html`<div class="listing">
    <ul aria-label=${t('graph.entities')}>
      ${entities.slice(0, count).map(
        ({ entity, degree }) =>
          html`<li key=${entity.id}>
            <button type="button" aria-pressed=${entity.id === selected} onClick=${() => onSelect(entity.id)}>
              <${KindDot} kind=${entity.type} />
              <span class="listing-name" dir="auto">${entity.name}</span>
              <span class="listing-facts">${kindName(entity.type)} · ${t('graph.relations', { count: degree })}</span>
              ${!part.expanded.has(entity.id) && html`<span class="listing-more" title=${t('graph.notExpanded')}><${Icon} name="plus" size="14" /></span>`}
            </button>
          </li>`,
      )}
    </ul>
    ${entities.length > count &&
    html`<button type="button" class="button small" onClick=${() => setCount(count + PAGE_SIZE)}>${t('graph.moreEntities', { count: entities.length - count })}</button>`}
  </div>`
}
