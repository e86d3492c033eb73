/** The figures and tables of all papers, with captions and pictures. `#/gallery?query=…&kind=…&paper=…` */

import { at, get } from '../api.js'
import { EmptyState, ErrorState, Icon, SearchField, Spinner, go, html, routeTo, t, useAsync, useDebounced, useEffect, useState } from '../ui/index.js'

const PART = 60
const KINDS = ['figure', 'table']

/** @param {{route: import('../ui/route.js').Route}} props */
export function Gallery({ route }) {
  const { query = '', kind = '', paper = '' } = route.query
  const [typed, setTyped] = useState(query)
  const [shown, setShown] = useState(PART)
  const settled = useDebounced(typed.trim())
  const asked = new URLSearchParams({ limit: shown, ...(query && { query }), ...(kind && { kind }), ...(paper && { paper }) })
  const found = useAsync((signal) => get(`/v1/gallery?${asked}`, { signal }), [query, kind, paper, shown])
  const choices = useAsync((signal) => Promise.all([get('/v1/tags', { signal }), get('/v1/papers?limit=200&sort=title', { signal })]), [])
  const show = (change, options) => go(['gallery'], { query, kind, paper, ...change }, options)
  useEffect(() => {
    if (settled !== query) show({ query: settled }, { replace: true })
  }, [settled])
  useEffect(() => setShown(PART), [query, kind, paper])
  const [tags = { tags: {} }, papers = { papers: [] }] = choices.data ?? []
  const named = [...Object.keys(tags.tags).map((tag) => [`#${tag}`, `#${tag}`]), ...papers.papers.map((one) => [one.id, one.title || one.file])]
  const { items = [], total = 0 } = found.data ?? {}
  return html`<div class="page">
    <header class="page-head"><h1>${t('gallery.title')} ${found.data && html`<span class="page-count">${t('gallery.count', { count: total })}</span>`}</h1></header>
    <div class="library-tools" role="search">
      <${SearchField} label=${t('gallery.search')} value=${typed} onType=${setTyped} />
      <select class="input sort-field" aria-label=${t('gallery.kind')} value=${kind} onChange=${(event) => show({ kind: event.target.value })}>
        <option value="" selected=${!kind}>${t('gallery.kinds.all')}</option>
        ${KINDS.map((one) => html`<option value=${one} selected=${one === kind}>${t(`gallery.kinds.${one}`)}</option>`)}
      </select>
      <select class="input gallery-paper" aria-label=${t('gallery.paper')} value=${paper} onChange=${(event) => show({ paper: event.target.value })}>
        <option value="" selected=${!paper}>${t('notes.allPapers')}</option>
        ${named.map(([value, name]) => html`<option value=${value} selected=${value === paper}>${name}</option>`)}
      </select>
    </div>
    ${found.error
      ? html`<${ErrorState} error=${found.error} onRetry=${found.reload} />`
      : !found.data
        ? html`<div class="view-state"><${Spinner} /></div>`
        : !items.length
          ? html`<${EmptyState} icon="image" title=${t('gallery.empty')}>${t('gallery.emptyText')}<//>`
          : html`<ul class="gallery" aria-label=${t('gallery.title')} aria-busy=${found.loading}>${items.map((item) => html`<${Item} key=${item.id} item=${item} />`)}</ul>`}
    ${items.length < total && html`<button type="button" class="button" onClick=${() => setShown(Math.min(shown + PART, 1000))}>${t('gallery.more')}</button>`}
  </div>`
}

function Item({ item }) {
  const [paper, name] = item.id.split('/')
  const label = item.label || t(`viewer.${item.kind}`)
  const about = { label, title: item.title }
  const open = routeTo(['papers', paper], { element: name })
  return html`<li class="gallery-item">
    <a class="gallery-picture" href=${open} aria-label=${t('gallery.open', about)}>
      ${item.crop ? html`<img src=${at(`/v1/crops/${item.crop}`)} alt="" loading="lazy" decoding="async" />` : html`<${Icon} name=${item.kind === 'table' ? 'table' : 'image'} size="32" />`}
    </a>
    <p class="gallery-caption printed" dir="auto"><strong>${label}</strong> ${item.caption}</p>
    <p class="gallery-facts"><span dir="auto">${item.title}</span> · ${t('notes.page', { page: item.place.page })}</p>
    <p class="gallery-actions">
      ${item.crop && html`<a class="button small" href=${at(`/v1/crops/${item.crop}`)} download="${paper}-${name}.png" aria-label=${t('gallery.savePicture', about)}><${Icon} name="download" size="16" /><span>PNG</span></a>`}
      ${item.kind === 'table' && html`<a class="button small" href=${at(`/v1/papers/${paper}/tables/${name}.csv`)} download aria-label=${t('gallery.saveTable', about)}><${Icon} name="download" size="16" /><span>CSV</span></a>`}
    </p>
  </li>`
}
