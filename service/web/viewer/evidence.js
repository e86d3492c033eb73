/**
 * Evidence as the viewer shows it: marks on pages and in texts, and the stops to step through.
 *
 * @typedef {{page: number, box: number[]}} Place  the box of a paper without pages counts lines
 * @typedef {{key: string, claim: number | string | null, label: string, places: Place[], element?: string,
 *   quote?: string}} Evidence
 * @typedef {{key: string, page: number, boxes: number[][]}} Stop  what is shown at once
 */

import { t } from '../ui/index.js'

/** The marks of each page; places that several pieces of evidence cite are one mark. */
export function marksByPage(evidence, active) {
  const pages = new Map()
  for (const one of evidence) {
    one.places.forEach(({ page, box }, index) => {
      const name = box.join()
      const marks = pages.get(page) ?? new Map()
      pages.set(page, marks)
      const mark = marks.get(name) ?? { box, keys: [], tags: [], labels: [], active: false }
      marks.set(name, mark)
      if (!mark.keys.includes(one.key)) mark.keys.push(one.key)
      if (index === 0 && one.claim !== null && !mark.tags.includes(one.claim)) mark.tags.push(one.claim)
      mark.labels.push(nameOf(one))
      mark.active ||= one.key === active
    })
  }
  return new Map([...pages].map(([page, marks]) => [page, [...marks.values()].map(finished).map(taggedOnceInRow)]))
}

/** The number of a claim stands at the first of its marks in a row, because numbers between cells would cover their neighbours. */
function taggedOnceInRow(mark, _index, marks) {
  const isBefore = ({ tag, box }) => tag === mark.tag && box[0] < mark.box[0] && isSameRow(box, mark.box)
  return marks.some(isBefore) ? { ...mark, tag: '' } : mark
}

function isSameRow([, top, , bottom], [, otherTop, , otherBottom]) {
  return Math.min(bottom, otherBottom) - Math.max(top, otherTop) > Math.max(bottom - top, otherBottom - otherTop) / 2
}

function finished({ tags, labels, ...mark }) {
  return { ...mark, tag: tags.join(', '), label: [...new Set(labels)].join('; ') }
}

/** What people call a piece of evidence: its claim and its label. */
export function nameOf({ claim, label }) {
  return claim === null ? label : t('viewer.claimAt', { claim: String(claim), label })
}

/** The stops in the order of the document: the places of a piece of evidence on one page are one stop. @returns {Stop[]} */
export function stopsOf(evidence) {
  const stops = evidence.flatMap(({ key, places }) => {
    const pages = new Map()
    for (const { page, box } of places) pages.set(page, [...(pages.get(page) ?? []), box])
    return [...pages].map(([page, boxes]) => ({ key, page, boxes }))
  })
  const top = ({ boxes }) => Math.min(...boxes.map((box) => box[1]))
  return stops.sort((a, b) => a.page - b.page || top(a) - top(b))
}

/** The stop at which a piece of evidence begins: the page of its first place. */
export function firstStop(stops, evidence, key) {
  const page = evidence.find((one) => one.key === key)?.places[0]?.page
  return stops.findIndex((stop) => stop.key === key && stop.page === page)
}

/** Whether a box counts lines of a text, not points of a page. */
export const isByLine = ([x0, y0, x1]) => x0 === 0 && x1 === 0 && y0 >= 1
