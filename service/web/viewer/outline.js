/** The outline of a paper: its sections, tables, figures and equations. */

import { at } from '../api.js'
import { ErrorState, Formula, Icon, Spinner, Tabs, html, t, useState } from '../ui/index.js'

const KINDS = ['table', 'figure', 'equation']

/**
 * @param {{outline: {data: object, error: Error, reload: () => void}, paged: boolean, page: number,
 *   onPlace: (element: object) => void, onOpen: (element: object) => void, onClose: () => void}} props
 */
export function Outline({ outline, paged, page, onPlace, onOpen, onClose }) {
  const { data, error, reload } = outline
  const [chosen, setChosen] = useState('sections')
  const lists = data && { sections: data.headings, table: data.tables, figure: data.figures, equation: data.equations }
  const tabs = lists
    ? [
        { key: 'sections', label: t('viewer.sections') },
        ...KINDS.filter((kind) => lists[kind].length).map((kind) => ({
          key: kind,
          label: html`${t(`viewer.${kind}s`)} <span class="tab-count">${lists[kind].length}</span>`,
        })),
      ]
    : []
  const tab = lists?.[chosen] ? chosen : 'sections'
  return html`<aside class="outline" aria-label=${t('viewer.outline')}>
    <header>
      <h2>${t('viewer.outline')}</h2>
      <button type="button" class="icon-button small" aria-label=${t('viewer.closeOutline')} onClick=${onClose}>
        <${Icon} name="close" size="16" />
      </button>
    </header>
    ${error
      ? html`<${ErrorState} error=${error} onRetry=${reload} />`
      : !data
        ? html`<${Spinner} />`
        : html`<${Tabs} label=${t('viewer.outline')} tabs=${tabs} active=${tab} onChange=${setChosen}>
            ${tab === 'sections'
              ? html`<${Sections} headings=${data.headings} paged=${paged} page=${page} onPlace=${onPlace} />`
              : html`<${Exhibits} elements=${lists[tab]} paged=${paged} onPlace=${onPlace} onOpen=${onOpen} />`}
          <//>`}
  </aside>`
}

function Sections({ headings, paged, page, onPlace }) {
  if (!headings.length) return html`<p class="outline-empty">${t('viewer.noSections')}</p>`
  const current = paged ? headings.findLast((heading) => heading.place.page <= page) : null
  return html`<ul class="sections">
    ${headings.map(
      (heading) =>
        html`<li key=${heading.id}>
          <button
            type="button"
            class="level-${Math.min(heading.level, 4)}"
            aria-current=${heading === current ? 'location' : undefined}
            onClick=${() => onPlace(heading)}
          >
            <span class="printed" dir="auto">${heading.text}</span>${paged && html`<${Number} page=${heading.place.page} />`}
          </button>
        </li>`,
    )}
  </ul>`
}

function Number({ page }) {
  return html`<span class="page-no"><span class="visually-hidden">${t('viewer.page')} </span>${page}</span>`
}

function Exhibits({ elements, paged, onPlace, onOpen }) {
  return html`<ul class="viewer-exhibits">
    ${elements.map((element) => {
      const label = element.label || t(`viewer.${element.kind}`)
      return html`<li key=${element.id}>
        <button type="button" class="exhibit-item" onClick=${() => onPlace(element)}>
          ${element.kind !== 'table' && element.crop && html`<img src=${at(`/v1/crops/${element.crop}`)} alt="" loading="lazy" />`}
          <span class="exhibit-name"><b>${label}</b>${paged && html`<${Number} page=${element.place.page} />`}</span>
          <span class="exhibit-words printed" dir="auto">
            ${element.latex && !element.crop ? html`<${Formula} latex=${element.latex} text=${element.text} />` : element.caption || (element.crop ? '' : element.text)}
          </span>
        </button>
        <button type="button" class="icon-button small" aria-label=${t('viewer.openElement', { label })} title=${t('viewer.openElement', { label })} onClick=${() => onOpen(element)}>
          <${Icon} name=${element.kind === 'table' ? 'table' : 'expand'} size="16" />
        </button>
      </li>`
    })}
  </ul>`
}
