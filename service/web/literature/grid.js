/** The cells of a literature table: each opens its place. */

import { Icon, html, t } from '../ui/index.js'

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }

/**
 * The row, column and cell of a key such as "2.1"; undefined if there is none.
 *
 * @param {any} table @param {string | undefined} key
 */
export function cellAt(table, key) {
  const [row, column] = (key ?? '').split('.').map(Number)
  const found = table.rows[row]
  const asked = table.columns.columns[column]
  if (!key || !found || !asked) return undefined
  return { row: found, column: asked, cell: found.cells.find((one) => one.column === asked.name) }
}

/** What a cell's state is called: its status, or that it is corrected or not filled. */
export function stateOf(cell) {
  if (!cell) return 'waiting'
  if (cell.correction !== null) return 'corrected'
  if (cell.status === 'unclear' || cell.findings.length) return 'unclear'
  return cell.status.replace(' ', '')
}

const ICONS = { corrected: 'edit', unclear: 'warning', computed: 'calculator' }

/**
 * @param {{table: any, open: string, onOpen: (key: string) => void, onExclude: (row: any) => void,
 *   onInclude: (row: any) => void}} props
 */
export function Grid({ table, open, onOpen, onExclude, onInclude }) {
  const { columns, rows: kind } = table.columns
  const onKeyDown = (event) => {
    const [down, along] = STEPS[event.key] ?? []
    const [row, column] = (event.target.dataset?.cell ?? '').split('.').map(Number)
    if (down === undefined || Number.isNaN(row)) return
    const next = event.currentTarget.querySelector(`[data-cell="${row + down}.${column + along}"]`)
    if (!next) return
    event.preventDefault()
    next.focus()
  }
  return html`<div class="table-scroll literature-grid" role="region" aria-label=${table.columns.title} tabindex="0">
    <table class="data-table" onKeyDown=${onKeyDown}>
      <thead>
        <tr>
          <th scope="col">${t('literature.paper')}</th>
          ${columns.map((column) => html`<th scope="col" key=${column.name} title=${column.instruction} dir="auto">${column.name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${table.rows.map(
          (row, at) =>
            html`<tr key=${`${row.paper} ${row.name}`} class=${row.excluded ? 'excluded' : ''}>
              <th scope="row">
                <a href="#/papers/${row.paper}" dir="auto">${row.title}</a>
                ${kind !== 'paper' && row.name && html`<span class="row-within" dir="auto">${row.name}</span>`}
                ${row.excluded
                  ? html`<span class="row-excluded" dir="auto">${t('literature.excluded', { reason: row.excluded })}</span>
                      <button type="button" class="button quiet small" onClick=${() => onInclude(row)}>${t('literature.include')}</button>`
                  : html`<button type="button" class="button quiet small" onClick=${() => onExclude(row)} aria-label=${t('literature.excludeRow', { title: row.name || row.title })}>${t('literature.exclude')}</button>`}
              </th>
              ${columns.map((column, index) => html`<${Cell} key=${column.name} row=${row} column=${column} id=${`${at}.${index}`} open=${open} onOpen=${onOpen} />`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function Cell({ row, column, id, open, onOpen }) {
  const cell = row.cells.find((one) => one.column === column.name)
  const state = stateOf(cell)
  const value = cell && (cell.correction ?? cell.value)
  const page = cell?.correction === null && cell.evidence[0]?.place.page
  return html`<td class="is-${state}">
    ${cell
      ? html`<button type="button" class="table-cell" data-cell=${id} aria-pressed=${open === id} onClick=${() => onOpen(id)}>
          ${ICONS[state] && html`<${Icon} name=${ICONS[state]} size="14" />`}
          <span class="table-value" dir="auto">${value || t(`literature.states.${state}`)}</span>
          ${value && ICONS[state] && html`<span class="visually-hidden">${t(`literature.states.${state}`)}</span>`}
          ${page && html`<span class="table-page">${t('literature.page', { page })}</span>`}
        </button>`
      : html`<span class="table-waiting">${t('literature.states.waiting')}</span>`}
  </td>`
}
