/** Tables as people work with them: a grid of cells, sorted by a column, as text for a spreadsheet. */

/** @typedef {{row: number, column: number, row_span: number, column_span: number, text: string, role: string,
 *   annotation: string, place: {page: number, box: number[]}}} Cell */

const NUMBER = /^[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*%?$/i

/** The number of rows and columns. @param {Cell[]} cells */
export function shape(cells) {
  return {
    rows: Math.max(0, ...cells.map((cell) => cell.row + cell.row_span)),
    columns: Math.max(0, ...cells.map((cell) => cell.column + cell.column_span)),
  }
}

/**
 * The rows of cells as HTML prints them: a cell that spans others occurs once; a place that no cell covers is null.
 *
 * @param {Cell[]} cells
 * @returns {(Cell | null)[][]}
 */
export function rowsOf(cells) {
  const { rows, columns } = shape(cells)
  const grid = Array.from({ length: rows }, () => Array(columns).fill(null))
  for (const cell of cells) {
    for (let row = cell.row; row < cell.row + cell.row_span; row++) {
      for (let column = cell.column; column < cell.column + cell.column_span; column++) grid[row][column] = cell
    }
  }
  return grid.map((line, row) =>
    line.filter((cell, column) => cell === null || (cell.row === row && cell.column === column)),
  )
}

/** The texts as a grid; the text of a cell that spans others is repeated. @param {Cell[]} cells */
export function textGrid(cells) {
  const { rows, columns } = shape(cells)
  const grid = Array.from({ length: rows }, () => Array(columns).fill(''))
  for (const cell of cells) {
    for (let row = cell.row; row < cell.row + cell.row_span; row++) {
      for (let column = cell.column; column < cell.column + cell.column_span; column++) grid[row][column] = cell.text
    }
  }
  return grid
}

/**
 * The header cell by which each column is sorted: the lowest one that covers only this column; null if it has none.
 *
 * @param {Cell[]} cells
 * @param {number} headerRows
 * @returns {(Cell | null)[]}
 */
export function sortHeaders(cells, headerRows) {
  const headers = Array(shape(cells).columns).fill(null)
  for (const cell of cells) {
    if (cell.row >= headerRows || cell.column_span > 1) continue
    if (!headers[cell.column] || headers[cell.column].row < cell.row) headers[cell.column] = cell
  }
  return headers
}

/**
 * The cells with the rows below the header sorted by a column. Rows stay under the title of their section, a cell that
 * spans rows is repeated in each, and empty cells come last.
 *
 * @param {Cell[]} cells
 * @param {{headerRows: number, column: number, descending: boolean}} by
 * @returns {Cell[]}
 */
export function sorted(cells, { headerRows, column, descending }) {
  const { rows } = shape(cells)
  const lines = Array.from({ length: rows }, () => [])
  for (const cell of cells) {
    if (cell.row < headerRows) continue
    for (let row = cell.row; row < cell.row + cell.row_span; row++) lines[row].push({ ...cell, row_span: 1 })
  }
  const order = []
  let group = []
  const flush = () => {
    order.push(...group.sort((a, b) => compare(keyOf(lines[a], column), keyOf(lines[b], column), descending)))
    group = []
  }
  for (let row = headerRows; row < rows; row++) {
    const fixed = lines[row].length > 0 && lines[row].every((cell) => cell.role === 'section' || cell.role === 'column_header')
    if (fixed) {
      flush()
      order.push(row)
    } else {
      group.push(row)
    }
  }
  flush()
  const header = cells.filter((cell) => cell.row < headerRows)
  return [...header, ...order.flatMap((row, index) => lines[row].map((cell) => ({ ...cell, row: headerRows + index })))]
}

function keyOf(line, column) {
  const cell = line.find((one) => one.column <= column && column < one.column + one.column_span)
  if (!cell) return ''
  const text = cell.annotation && cell.text.endsWith(cell.annotation) ? cell.text.slice(0, -cell.annotation.length) : cell.text
  return text.replaceAll('\u2212', '-').trim()
}

function compare(a, b, descending) {
  if (!a || !b) return Number(!a) - Number(!b)
  const [x, y] = [numberOf(a), numberOf(b)]
  if ((x === null) !== (y === null)) return x === null ? 1 : -1
  const order = x === null ? a.localeCompare(b, undefined, { numeric: true }) : x - y
  return descending ? -order : order
}

function numberOf(text) {
  return NUMBER.test(text) ? Number(text.replace(/[,%\s]/g, '')) : null
}

/** The grid as lines with tabs, which spreadsheets paste as cells. @param {Cell[]} cells */
export function tabSeparated(cells) {
  return textGrid(cells)
    .map((line) => line.map((text) => text.replace(/\s+/g, ' ')).join('\t'))
    .join('\n')
}
