/** What the papers state about an entity, each statement with its places. */

import { Icon, formatNumber, html, t, useState } from '../ui/index.js'
import { KindDot, kindName } from './kinds.js'
import { otherEnd, relationKey, statements } from './model.js'

const PAGE_SIZE = 40
const MAX_TEXT = 280

/**
 * @param {{part: import('./model.js').Part, id: string, maxRelations: number, busy: boolean, onSelect: (id: string) => void,
 *   onPlaces: (places: import('./model.js').Place[]) => void, onMore: () => void, onCollapse: () => void, onClose: () => void}} props
 */
export function Details({ part, id, maxRelations, busy, onSelect, onPlaces, onMore, onCollapse, onClose }) {
  const [shown, setShown] = useState({ id, count: PAGE_SIZE })
  const entity = part.entities.get(id)
  const found = statements(part, id)
  const definitions = part.definitions.get(id) ?? []
  const count = shown.id === id ? shown.count : PAGE_SIZE
  const expanded = part.expanded.get(id)
  const isBounded = Boolean(expanded?.hasMore)
  return html`<section class="details" aria-label=${t('graph.details')}>
    <header class="details-head">
      <p class="details-kind"><${KindDot} kind=${entity.type} />${kindName(entity.type)}</p>
      <button type="button" class="icon-button small" aria-label=${t('graph.closeDetails')} onClick=${onClose}><${Icon} name="close" size="16" /></button>
      <h2 dir="auto">${entity.name}</h2>
      ${entity.aliases.length > 0 && html`<p class="details-aliases" dir="auto">${t('graph.aliases', { names: entity.aliases.join(', ') })}</p>`}
    </header>
    ${entity.description && html`<${Printed} key=${id} class="details-description" text=${entity.description} />`}
    <${Places} key=${`${id} places`} part=${part} sources=${entity.sources} onPlaces=${onPlaces} />
    ${definitions.length > 0 &&
    html`<h3 id="definitions">${t('graph.definitions', { count: definitions.length })}</h3>
      <ul class="statements definitions" aria-labelledby="definitions">
        ${definitions.map(
          (one) =>
            html`<li class="statement" key=${one.element}>
              <${Printed} class="statement-text" text=${one.quote} />
              <p class="places"><${PlaceButton} label=${one.name} onClick=${() => onPlaces([one.place, ...one.more_places])} /></p>
            </li>`,
        )}
      </ul>`}
    <h3>${t('graph.statements', { count: found.length })}</h3>
    ${isBounded && html`<p class="details-bounded">${t('graph.bounded', { count: expanded.limit })}</p>`}
    <ul class="statements">
      ${found.slice(0, count).map((relation) => html`<${Statement} key=${relationKey(relation)} part=${part} id=${id} relation=${relation} onSelect=${onSelect} onPlaces=${onPlaces} />`)}
    </ul>
    <div class="details-actions">
      ${found.length > count &&
      html`<button type="button" class="button small" onClick=${() => setShown({ id, count: count + PAGE_SIZE })}>${t('graph.moreStatements', { count: found.length - count })}</button>`}
      ${(!expanded || (isBounded && expanded.limit < maxRelations)) &&
      html`<button type="button" class="button small" disabled=${busy} onClick=${onMore}><${Icon} name="plus" size="16" /><span>${t(expanded ? 'graph.more' : 'graph.expand')}</span></button>`}
      ${expanded &&
      html`<button type="button" class="button small quiet" onClick=${onCollapse}>${t('graph.collapse')}</button>`}
    </div>
  </section>`
}

function Statement({ part, id, relation, onSelect, onPlaces }) {
  const other = part.entities.get(otherEnd(relation, id))
  const isFrom = relation.source === id
  return html`<li class="statement">
    <p class="statement-line">
      <span class="statement-kind" dir="auto">
        <${Icon} name=${isFrom ? 'chevronRight' : 'chevronLeft'} size="14" />
        <span class="visually-hidden">${t(isFrom ? 'graph.outgoing' : 'graph.incoming')}</span>${relation.kind}
      </span>
      <button type="button" class="statement-other" dir="auto" onClick=${() => onSelect(other.id)}><${KindDot} kind=${other.type} /><span>${other.name}</span></button>
    </p>
    ${relation.description && html`<${Printed} class="statement-text" text=${relation.description} />`}
    <${Places} part=${part} sources=${relation.sources} onPlaces=${onPlaces} />
  </li>`
}

const MAX_PLACES = 4

/** Buttons that open the pages of elements. */
function Places({ part, sources, onPlaces }) {
  const [isWhole, setWhole] = useState(false)
  const pages = Map.groupBy(
    sources.filter((element) => part.places.has(element)),
    (element) => `${part.places.get(element).paper}/${part.places.get(element).page}`,
  )
  if (!pages.size) return null
  const shown = [...pages.values()].slice(0, isWhole ? undefined : MAX_PLACES)
  return html`<p class="places">
    ${shown.map((elements) => {
      const { paper, page } = part.places.get(elements[0])
      const label = t('graph.place', { file: part.files.get(paper) ?? paper, page: String(page) })
      return html`<${PlaceButton} key=${elements[0]} label=${label} onClick=${() => onPlaces(elements.map((one) => part.places.get(one)))} />`
    })}
    ${pages.size > shown.length &&
    html`<button type="button" class="chip" aria-label=${t('graph.morePlaces', { count: pages.size - shown.length })} onClick=${() => setWhole(true)}>
      +${formatNumber(pages.size - shown.length)}
    </button>`}
  </p>`
}

function PlaceButton({ label, onClick }) {
  return html`<button type="button" class="chip place" title=${label} onClick=${onClick}><${Icon} name="paper" size="14" /><span dir="auto">${label}</span></button>`
}

/** A text of a paper, of which the rest is shown on request. */
function Printed({ text, class: className }) {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > MAX_TEXT
  const cut = isLong && !isWhole
  return html`<p class="${className} printed" dir="auto">
    ${cut ? `${text.slice(0, text.lastIndexOf(' ', MAX_TEXT))}… ` : text}
    ${cut && html`<button type="button" class="link" onClick=${() => setWhole(true)}>${t('graph.wholeText')}</button>`}
  </p>`
}
