/** Notes and highlights on the papers: found by words and tag, each opens its place. `#/notes?query=…&paper=…` */

import { at, del, get, patch } from '../api.js'
import { EmptyState, ErrorState, Icon, SearchField, Spinner, errorTitle, formatDate, go, html, placesQuery, routeTo, t, toast, useAsync, useDebounced, useEffect, useState } from '../ui/index.js'

const MOST = 1000

/** @param {{route: import('../ui/route.js').Route}} props */
export function Notes({ route }) {
  const { query = '', paper = '' } = route.query
  const [typed, setTyped] = useState(query)
  const settled = useDebounced(typed.trim())
  const search = new URLSearchParams({ ...(query && { query }), ...(paper && { paper }) })
  const found = useAsync((signal) => get(`/v1/notes?${search}&limit=${MOST}`, { signal }), [query, paper])
  const tags = useAsync((signal) => get('/v1/tags', { signal }), [])
  useEffect(() => {
    if (settled !== query) go(['notes'], { query: settled, paper }, { replace: true })
  }, [settled])
  const names = Object.keys(tags.data?.tags ?? {}).map((tag) => `#${tag}`)
  const notes = found.data?.notes ?? []
  return html`<div class="page">
    <header class="page-head">
      <h1>${t('notes.title')}</h1>
      ${notes.length > 0 && html`<a class="button" href=${at(`/v1/notes?${search}&format=markdown`)} download><${Icon} name="download" /><span>${t('notes.export')}</span></a>`}
    </header>
    <div class="library-tools" role="search">
      <${SearchField} label=${t('notes.search')} value=${typed} onType=${setTyped} />
      <select class="input sort-field" aria-label=${t('notes.papers')} value=${paper} onChange=${(event) => go(['notes'], { query, paper: event.target.value })}>
        <option value="" selected=${!paper}>${t('notes.allPapers')}</option>
        ${[...(paper && !names.includes(paper) ? [paper] : []), ...names].map((name) => html`<option value=${name} selected=${name === paper}>${name}</option>`)}
      </select>
    </div>
    ${found.error
      ? html`<${ErrorState} error=${found.error} onRetry=${found.reload} />`
      : !found.data
        ? html`<div class="view-state"><${Spinner} /></div>`
        : !notes.length
          ? html`<${EmptyState} icon="edit" title=${t(query || paper ? 'notes.noMatch' : 'notes.empty')}>${t('notes.emptyText')}<//>`
          : html`<ul class="notes" aria-label=${t('notes.title')}>
              ${notes.map((note) => html`<${NoteItem} key=${note.id} note=${note} onChange=${found.reload} />`)}
            </ul>`}
  </div>`
}

function NoteItem({ note, onChange }) {
  const [text, setText] = useState(null)
  const change = async (work) => {
    try {
      await work()
      setText(null)
      onChange()
    } catch (error) {
      toast(error.detail || errorTitle(error), { kind: 'error' })
    }
  }
  const save = (event) => {
    event.preventDefault()
    change(() => patch(`/v1/notes/${note.id}`, { text }))
  }
  const about = { title: note.title }
  return html`<li class="note-item">
    <a class="printed" dir="auto" href=${routeTo(['papers', note.paper], { at: placesQuery(note.places) })}>${note.title}</a>
    <span class="note-facts">${[...new Set(note.places.map(({ page }) => page))].map((page) => t('notes.page', { page })).join(', ')} ${formatDate(new Date(1000 * note.updated).toISOString())}</span>
    ${note.quote && html`<blockquote class="note-quote printed" dir="auto">${note.quote}</blockquote>`}
    ${text === null
      ? note.text && html`<p class="note-text" dir="auto">${note.text}</p>`
      : html`<form onSubmit=${save}>
          <textarea class="input" rows="4" maxlength="20000" dir="auto" aria-label=${t('notes.text')} value=${text} onInput=${(event) => setText(event.currentTarget.value)}></textarea>
          <button type="submit" class="button small primary">${t('notes.save')}</button>
        </form>`}
    <span class="note-actions">
      <button type="button" class="icon-button" aria-label=${t('notes.edit', about)} title=${t('notes.edit', about)} onClick=${() => setText(text === null ? note.text : null)}><${Icon} name="edit" /></button>
      <button type="button" class="icon-button" aria-label=${t('notes.delete', about)} title=${t('notes.delete', about)} onClick=${() => change(() => del(`/v1/notes/${note.id}`))}><${Icon} name="trash" /></button>
    </span>
  </li>`
}
