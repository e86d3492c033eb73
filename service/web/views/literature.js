/** Literature tables: the list, a new one, and a table with the places of its cells. */

import { get } from '../api.js'
import { NewTable } from '../literature/new_table.js'
import { OneTable } from '../literature/one_table.js'
import { ErrorState, Icon, Spinner, formatDate, html, t, useAsync } from '../ui/index.js'

/** @param {{route: import('../ui/route.js').Route}} props */
export function Literature({ route }) {
  const id = route.path[1]
  if (id) return html`<${OneTable} key=${id} id=${id} query=${route.query} />`
  return html`<${Tables} />`
}

/** All tables, and where a new one begins. */
function Tables() {
  const found = useAsync((signal) => get('/v1/tables', { signal }), [])
  if (found.error) return html`<div class="view-state"><${ErrorState} error=${found.error} onRetry=${found.reload} /></div>`
  if (!found.data) return html`<div class="view-state"><${Spinner} /></div>`
  const { tables, ready_columns: ready } = found.data
  return html`<div class="page">
    <header class="page-head"><h1>${t('literature.title')}</h1></header>
    <${NewTable} ready=${ready} />
    ${tables.length > 0 && html`<h2 class="batches-heading">${t('literature.earlier')}</h2>`}
    <ul class="batches">
      ${tables.map(
        (one) =>
          html`<li key=${one.id}>
            <a href="#/tables/${one.id}">
              <${Icon} name="table" />
              <span class="batch-name" dir="auto">${one.columns.title}</span>
              <span class="batch-facts">${t('literature.papers', { count: one.papers.length })}</span>
              <span class="batch-date">${formatDate(new Date(1000 * one.updated).toISOString())}</span>
            </a>
          </li>`,
      )}
    </ul>
  </div>`
}
