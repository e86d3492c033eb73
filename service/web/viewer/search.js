/**
 * Search in texts that are printed in parts: text runs of a page, text nodes of a document.
 *
 * Texts are compared folded: small letters without accents, ligatures as letters, single spaces, and no hyphen within a
 * word, because a hyphen at a line's end may be the printer's.
 *
 * @typedef {{text: string, eol: boolean}} Part  `eol`: a line ends after it
 * @typedef {{part: number, offset: number}} Point
 */

const HYPHENS = new Set(['-', '\u2010', '\u2011'])
const SOFT_HYPHEN = '\u00ad'
const SAME = { '\u2018': "'", '\u2019': "'", '\u201c': '"', '\u201d': '"', '\u2013': '-', '\u2014': '-', '\u2212': '-' }
const LETTER = /\p{L}/u
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u

/**
 * The folded text of parts. With `points`, the place of each of its characters is added to that list.
 *
 * @param {Part[]} parts
 * @param {Point[]} [points]
 */
export function fold(parts, points) {
  let folded = ''
  const add = (text, part, offset) => {
    folded += text
    if (points) for (let count = text.length; count > 0; count--) points.push({ part, offset })
  }
  parts.forEach(({ text, eol }, part) => {
    let joined = false
    for (let offset = 0; offset < text.length; offset++) {
      const code = text.codePointAt(offset)
      const character = String.fromCodePoint(code)
      const wide = character.length - 1
      const last = offset + wide === text.length - 1
      if (character === SOFT_HYPHEN || (HYPHENS.has(character) && LETTER_OR_DIGIT.test(folded.at(-1) ?? '') && isLetter(after(last)))) {
        joined = last
      } else if (/\s/.test(character)) {
        if (folded && !folded.endsWith(' ')) add(' ', part, offset)
      } else {
        add(code < 128 ? character.toLowerCase() : foldCharacter(character), part, offset)
      }
      offset += wide

      function after(end) {
        return end ? (eol ? parts[part + 1]?.text : undefined)?.[0] : text[offset + 1]
      }
    }
    if (eol && !joined && folded && !folded.endsWith(' ')) add(' ', part, text.length)
  })
  return folded
}

const isLetter = (character) => character !== undefined && LETTER.test(character)

function foldCharacter(character) {
  return SAME[character] ?? character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

/** A query as texts are folded. */
export const foldQuery = (query) => fold([{ text: query, eol: false }]).trim()

/** The starts of a folded query in a folded text. */
export function starts(folded, query) {
  const found = []
  if (!query) return found
  for (let at = folded.indexOf(query); at >= 0; at = folded.indexOf(query, at + query.length)) found.push(at)
  return found
}

/**
 * Where a folded query stands in parts.
 *
 * @param {Part[]} parts
 * @param {string} query
 * @returns {{start: Point, end: Point}[]} `end` is the place after the last character
 */
export function find(parts, query) {
  const points = []
  const folded = fold(parts, points)
  return starts(folded, query).map((at) => {
    const last = points[at + query.length - 1]
    return { start: points[at], end: { part: last.part, offset: Math.min(last.offset + 1, parts[last.part].text.length) } }
  })
}

/**
 * Counts a query on the pages of a document, one after the other from a page on; folded texts are kept.
 */
export class PageSearch {
  /** @param {number} pages @param {(number: number) => Promise<Part[]>} textOf the text of a page, from 1 */
  constructor(pages, textOf) {
    this.pages = pages
    this.textOf = textOf
    this.folded = new Map()
  }

  /** Whether a page that was searched has a text. */
  get hasText() {
    return [...this.folded.values()].some((text) => text.trim())
  }

  /**
   * @param {string} query
   * @param {{from: number, signal: AbortSignal, report: (counts: Map<number, number>, searched: number) => void}} options
   */
  async run(query, { from, signal, report }) {
    const counts = new Map()
    let reported = performance.now()
    for (let searched = 0; searched < this.pages; searched++) {
      const number = ((from - 1 + searched) % this.pages) + 1
      if (!this.folded.has(number)) this.folded.set(number, fold(await this.textOf(number)))
      signal.throwIfAborted()
      const count = starts(this.folded.get(number), query).length
      if (count) counts.set(number, count)
      const now = performance.now()
      if ((count && counts.size === 1) || now - reported > 200) {
        report(new Map(counts), searched + 1)
        reported = now
      }
    }
    report(counts, this.pages)
  }
}

/** The hit after (`step` = 1) or before (`step` = -1) a hit, over the end; null if there is none. */
export function nextHit(counts, { page, index }, step) {
  const pages = [...counts.keys()].sort((a, b) => a - b)
  if (!pages.length) return null
  const to = index + step
  if (counts.has(page) && to >= 0 && to < counts.get(page)) return { page, index: to }
  const following = step > 0 ? (pages.find((one) => one > page) ?? pages[0]) : (pages.findLast((one) => one < page) ?? pages.at(-1))
  return { page: following, index: step > 0 ? 0 : counts.get(following) - 1 }
}

/** How many hits there are before a hit, and in all. */
export function countHits(counts, hit) {
  let [before, total] = [0, 0]
  for (const [page, count] of counts) {
    total += count
    if (hit && page < hit.page) before += count
  }
  return { number: hit ? before + hit.index + 1 : 0, total }
}
