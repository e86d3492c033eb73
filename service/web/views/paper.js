/** A paper by itself: `#/papers/ID?page=3`; with an element lit: `…?element=table-3`; with boxes lit: `…?at=3,x0,y0,x1,y1;4,…`. */

import { get } from '../api.js'
import { EmptyState, Icon, html, t, useAsync, useEffect, useMemo } from '../ui/index.js'
import { placesOf } from '../viewer/elements.js'
import { PageViewer } from '../viewer/viewer.js'

const KEY = 'place'

/** @param {{route: import('../ui/route.js').Route}} props */
export function Paper({ route }) {
  const id = route.path[1]
  const { page, at } = route.query
  const element = route.query.element?.split('/').pop()
  const head = useAsync((signal) => (id ? get(`/v1/papers/${encodeURIComponent(id)}`, { signal }) : Promise.resolve()), [id])
  const named = useAsync(
    (signal) => (element ? get(`/v1/papers/${encodeURIComponent(id)}/elements/${encodeURIComponent(element)}`, { signal }) : Promise.resolve(null)),
    [id, element],
  )
  const evidence = useMemo(() => litBy({ at, element: named.data }), [at, named.data])
  const title = head.data && (head.data.head.title || head.data.head.file)
  useEffect(() => {
    if (title) document.title = `${title} – ${t('app.name')}`
  }, [title])
  if (!id) return html`<div class="view-state"><${EmptyState} title=${t('viewer.removedTitle')}>${t('viewer.removedText')}<//></div>`
  const authors = head.data?.head.authors.join(', ')
  return html`<div class="paper-view">
    <header class="paper-head">
      <a class="icon-button" href="#/library" aria-label=${t('viewer.toLibrary')} title=${t('viewer.toLibrary')}><${Icon} name="chevronLeft" /></a>
      <div class="paper-names">
        <h1 class="printed" dir="auto">${title ?? t('common.loading')}</h1>
        ${authors && html`<p dir="auto">${authors}${head.data.head.year ? `, ${head.data.head.year}` : ''}</p>`}
      </div>
      <a class="button" href="#/ask?paper=${id}" aria-label=${t('viewer.askPaper')}><${Icon} name="ask" /><span>${t('viewer.askPaper')}</span></a>
    </header>
    ${named.loading && element
      ? ''
      : html`<${PageViewer} key=${`${id} ${page} ${at} ${element}`} paper=${id} page=${Number(page) || 1} evidence=${evidence} active=${evidence.length ? KEY : ''} focused />`}
  </div>`
}

function litBy({ at, element }) {
  if (element) {
    const places = placesOf(element).map((place) => ({ page: place.page, box: place.box }))
    return [{ key: KEY, claim: null, label: element.label || element.id.split('/')[1], element: element.id, places }]
  }
  const numbers = (at ?? '').split(';').map((place) => place.split(',').map(Number))
  const places = numbers
    .filter((one) => one.length === 5 && one.every(Number.isFinite))
    .map(([page, ...box]) => ({ page, box }))
  return places.length ? [{ key: KEY, claim: null, label: t('viewer.citedPlace'), places }] : []
}
