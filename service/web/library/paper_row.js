/** A paper in the list. */

import { at } from '../api.js'
import { Icon, Menu, formatNumber, go, html, routeTo, t } from '../ui/index.js'

const KINDS = ['table', 'figure', 'equation']
const MAX_AUTHORS = 4

/**
 * @param {{paper: {id: string, title: string, authors: string[], file: string, year: ?number, venue: string,
 *   counts: Record<string, number>, pages?: number}, selected: boolean, onSelect: (selected: boolean) => void,
 *   onRemove: () => void, onReplace: () => void, onTag: () => void}} props
 */
export function PaperRow({ paper, selected, onSelect, onRemove, onReplace, onTag }) {
  const title = paper.title || paper.file
  const open = routeTo(['papers', paper.id])
  const items = [
    { label: t('library.open'), icon: 'paper', onSelect: () => go(['papers', paper.id]) },
    { label: t('library.showGraph'), icon: 'graph', onSelect: () => go(['graph'], { paper: paper.id }) },
    { label: t('library.downloadFile'), icon: 'download', onSelect: () => location.assign(at(`/v1/papers/${paper.id}/file`)) },
    { label: t('library.bibtex'), icon: 'quote', onSelect: () => location.assign(at(`/v1/bibtex?paper=${paper.id}`)) },
    { label: t('tags.edit'), icon: 'filter', onSelect: onTag },
    { label: t('notes.title'), icon: 'edit', onSelect: () => go(['notes'], { paper: paper.id }) },
    { label: t('library.replace'), icon: 'refresh', onSelect: onReplace },
    { label: t('library.remove'), icon: 'trash', danger: true, onSelect: onRemove },
  ]
  return html`<li class="paper ${selected ? 'selected' : ''}">
    <label class="paper-check">
      <input type="checkbox" checked=${selected} aria-label=${t('library.select', { title })} onChange=${(event) => onSelect(event.target.checked)} />
    </label>
    <div class="paper-body">
      <h2 class="paper-title printed" dir="auto"><a href=${open}>${title}</a></h2>
      <p class="paper-byline">
        ${paper.authors.length > 0 && html`<span dir="auto">${authorsText(paper.authors)}</span>`}
        ${paper.year && html`<span>${paper.year}</span>`} ${paper.venue && html`<span dir="auto">${paper.venue}</span>`}
        ${!paper.authors.length && !paper.year && html`<span class="paper-file" dir="auto">${paper.file}</span>`}
      </p>
      <p class="paper-facts">
        ${paper.pages > 0 && html`<span>${t('library.pageCount', { count: paper.pages })}</span>`}
        ${KINDS.filter((kind) => paper.counts[kind]).map((kind) => html`<span>${t(`library.kinds.${kind}`, { count: paper.counts[kind] })}</span>`)}
        ${paper.tags.map((tag) => html`<a class="paper-tag" href=${routeTo(['library'], { query: `#${tag}` })}>#${tag}</a>`)}
        ${paper.problems > 0 &&
        html`<a class="paper-problems" href=${open}><${Icon} name="warning" size="14" />${t('library.problems', { count: paper.problems })}</a>`}
      </p>
    </div>
    <div class="paper-actions">
      <a class="button small quiet" href=${routeTo(['ask'], { paper: paper.id })} aria-label=${t('library.askAbout', { title })}>
        <${Icon} name="ask" size="16" /><span>${t('library.ask')}</span>
      </a>
      <${Menu} label=${t('library.actions', { title })} items=${items} />
    </div>
  </li>`
}

function authorsText(authors) {
  if (authors.length <= MAX_AUTHORS) return authors.join(', ')
  return t('library.andOthers', { names: authors.slice(0, MAX_AUTHORS - 1).join(', '), more: formatNumber(authors.length - MAX_AUTHORS + 1) })
}
