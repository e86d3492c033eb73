/** A table of a paper as a real table. */

import { Icon, html, t, useMemo } from '../ui/index.js'
import { rowsOf, sortHeaders, sorted } from './tables.js'

/**
 * @param {{table: {label: string, caption: string, cells: import('./tables.js').Cell[], header_rows: number},
 *   by?: {column: number, descending: boolean} | null, onSort?: (by: object | null) => void,
 *   marksOf?: (cell: object) => {key: string, active: boolean}[], onSelect?: (keys: string[], event: Event) => void}} props
 *   with `onSort`, columns can be sorted
 */
export function TableView({ table, by = null, onSort, marksOf = () => [], onSelect }) {
  const { cells, header_rows: headerRows } = table
  const rows = useMemo(() => rowsOf(by ? sorted(cells, { ...by, headerRows }) : cells), [cells, by?.column, by?.descending])
  const headers = useMemo(() => sortHeaders(cells, headerRows), [cells, headerRows])
  const sortOf = (column) => (by?.column === column ? (by.descending ? 'descending' : 'ascending') : 'none')
  const next = (column) => {
    if (by?.column !== column) return { column, descending: false }
    return by.descending ? null : { column, descending: true }
  }
  const sortButton = (column, label) => html`<button type="button" class="sort ${sortOf(column)}" onClick=${() => onSort(next(column))}>
    <span dir="auto">${label}</span><${Icon} name=${sortOf(column) === 'descending' ? 'chevronDown' : 'chevronUp'} size="14" />
  </button>`
  const cellView = (cell) => {
    if (!cell) return html`<td></td>`
    const marks = marksOf(cell)
    const column = onSort ? headers.findIndex((header) => header && header.row === cell.row && header.column === cell.column) : -1
    const head = cell.role !== 'value'
    const text = column >= 0 && cell.text ? sortButton(column, cell.text) : html`<span dir="auto">${cell.text}</span>`
    const scope = cell.role === 'column_header' ? (cell.column_span > 1 ? 'colgroup' : 'col') : cell.row_span > 1 ? 'rowgroup' : 'row'
    return html`<${head ? 'th' : 'td'}
      scope=${head ? scope : undefined}
      rowspan=${cell.row_span}
      colspan=${cell.column_span}
      aria-sort=${column >= 0 && sortOf(column) !== 'none' ? sortOf(column) : undefined}
      class=${`${cell.role} ${cell.bold ? 'bold' : ''} ${marks.length ? 'marked' : ''} ${marks.some((mark) => mark.active) ? 'active' : ''}`}
    >
      ${marks.length && onSelect
        ? html`<button type="button" class="mark-text ${marks.some((mark) => mark.active) ? 'active' : ''}" data-key=${marks[0].key} onClick=${(event) => onSelect(marks.map((mark) => mark.key), event)}>
            ${text}
          </button>`
        : text}
    <//>`
  }
  const line = (row) => html`<tr>${row.map(cellView)}</tr>`
  const unnamed = onSort && !headers.some((header) => header?.text)
  return html`<div class="paper-table-scroll" tabindex="0" role="region" aria-label=${table.label || t('viewer.table')}>
    <table class="paper-table printed">
      ${(headerRows > 0 || unnamed) &&
      html`<thead>
        ${rows.slice(0, headerRows).map(line)}
        ${unnamed &&
        html`<tr>
          ${headers.map((_, column) => html`<th scope="col">${sortButton(column, t('viewer.column', { number: column + 1 }))}</th>`)}
        </tr>`}
      </thead>`}
      <tbody>
        ${rows.slice(headerRows).map(line)}
      </tbody>
    </table>
  </div>`
}
