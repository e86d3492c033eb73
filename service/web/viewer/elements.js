/** What was read from a paper, from the API. */

import { get } from '../api.js'

const LIMIT = 1000

/** All elements that a query asks for, as they come: lists that grow. */
export async function* growing(paper, query, signal) {
  let elements = []
  for (;;) {
    const asked = new URLSearchParams({ ...query, limit: LIMIT, offset: elements.length })
    const part = await get(`/v1/papers/${paper}/elements?${asked}`, { signal })
    elements = elements.concat(part.elements)
    yield elements
    if (elements.length >= part.total || !part.elements.length) return
  }
}

async function all(paper, query, signal) {
  let elements = []
  for await (const some of growing(paper, query, signal)) elements = some
  return elements
}

/** The headings, tables (without cells), figures and equations of a paper. */
export async function loadOutline(paper, signal) {
  const [headings, { items: tables }, figures, equations] = await Promise.all([
    all(paper, { role: 'heading' }, signal),
    get(`/v1/gallery?kind=table&paper=${paper}&limit=1000`, { signal }),
    all(paper, { kind: 'figure' }, signal),
    all(paper, { kind: 'equation' }, signal),
  ])
  return { headings, tables, figures, equations }
}

/** An element by its id. */
export function loadElement(id, signal) {
  const [paper, name] = id.split('/')
  return get(`/v1/papers/${paper}/elements/${name}`, { signal })
}

/** The places of an element, its beginning first. */
export const placesOf = (element) => [element.place, ...(element.more_places ?? [])]

/** The LaTeX of equations that a vision model read, by element. */
export function latexOf(paper) {
  const read = paper.images.readings.filter((reading) => reading.kind === 'description' && reading.latex)
  return new Map(read.map((reading) => [reading.element, reading.latex]))
}

/** Whether a paper has pages; a text has one of size 0. */
export const isPaged = (paper) => paper.pages.some((page) => page.width > 0)
