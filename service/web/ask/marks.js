/** Where an answer's text gets the marks of its claims, the findings about its numbers, and its formulas. */

/** @typedef {{number: string, finding: string, formula: string, support: object[]}} Check */
/** @typedef {{kind: string, subject: string, message: string}} Finding */
/** @typedef {{kind: 'text', text: string} | {kind: 'check', text: string, check: Check, finding?: Finding}
 *   | {kind: 'finding', text: string, finding: Finding} | {kind: 'latex', text: string, latex: string, display: boolean}
 *   | {kind: 'mark', claim: number}} Segment */
/** @typedef {{kind: 'paragraph' | 'list', ordered?: boolean, start?: number, lines: Segment[][], below?: Segment[][][]}} Block
 *   `below` are the indented lines and the rows of a table below each line of a list */

const LATEX = [
  { pattern: /\$\$([^$]+)\$\$/g, display: true },
  { pattern: /\\\[([\s\S]+?)\\\]/g, display: true },
  { pattern: /\\\(([\s\S]+?)\\\)/g, display: false },
  // A single dollar may be money: only what has a command, index or exponent is a formula.
  { pattern: /\$(?=[^$]*[\\^_])(\S(?:[^$\n]*\S)?)\$(?!\d)/g, display: false },
]
const SEVERITY = ['asked', 'printed', 'computed', 'unsupported']
const LIST_ITEM = /^\s*(?:[-*•]|(\d{1,3})[.)])\s+/
const BETWEEN_CELLS = ' | '
const BELOW_ITEM = /^\s+\S|\S \| \S/

/**
 * The blocks of an answer's text.
 *
 * @param {{text: string, claims: {text: string, mark?: number | null}[], checks?: Check[], findings?: Finding[]}} answer
 * @returns {Block[]}
 */
export function blocksOf({ text, claims, checks = [], findings = [] }) {
  const marks = marksIn(text, claims)
  const ranges = separate([...latexRanges(text), ...checkRanges(text, checks, findings), ...wordRanges(text, findings)])
  const blocks = []
  let at = 0
  for (const line of text.split('\n')) {
    const item = LIST_ITEM.exec(line)
    const start = at + (item?.[0].length ?? 0)
    const segments = line.trim() ? segmentsOf(text, start, at + line.length, ranges, marks) : []
    const last = blocks.at(-1)
    if (item && last?.kind === 'list' && last.ordered === Boolean(item[1])) {
      last.lines.push(segments)
      last.below.push([])
    } else if (item) {
      blocks.push({ kind: 'list', ordered: Boolean(item[1]), start: Number(item[1] ?? 1), lines: [segments], below: [[]] })
    } else if (last?.kind === 'list' && BELOW_ITEM.test(line)) last.below.at(-1).push(segments)
    else if (line.trim()) blocks.push({ kind: 'paragraph', lines: [segments] })
    at += line.length + 1
  }
  return blocks
}

/** The cells of a table's row, "A | 1 | 2": the segments of each. @param {Segment[]} segments */
export function cellsOf(segments) {
  const cells = [[]]
  for (const segment of segments) {
    if (segment.kind !== 'text') {
      cells.at(-1).push(segment)
      continue
    }
    const [first, ...others] = segment.text.split(BETWEEN_CELLS)
    cells.at(-1).push({ kind: 'text', text: first })
    others.forEach((text) => cells.push([{ kind: 'text', text }]))
  }
  return cells
}

/** The segments of a text without claims: of a claim itself. */
export function segmentsOfText(text, { checks = [], findings = [] } = {}) {
  const ranges = separate([...latexRanges(text), ...checkRanges(text, checks, findings)])
  return segmentsOf(text, 0, text.length, ranges, new Map())
}

/** The claims (from 0) by the place of their mark. The service counts characters, and a string its UTF-16 units. */
function marksIn(text, claims) {
  const characters = [...text]
  const marks = new Map()
  claims.forEach(({ mark }, claim) => {
    if (mark == null) return
    const at = characters.slice(0, mark).join('').length
    marks.set(at, [...(marks.get(at) ?? []), claim])
  })
  return marks
}

/** Whether the text has the claim's words. */
export function states(text, claim) {
  return endOf(text, claim) !== null
}

/** The end of a claim in the text, whatever its white space; null if it does not occur. */
function endOf(text, claim) {
  const words = claim.trim().split(/\s+/)
  if (!words[0]) return null
  const found = new RegExp(words.map(escaped).join('\\s+')).exec(text)
  return found && found.index + found[0].length
}

function latexRanges(text) {
  return LATEX.flatMap(({ pattern, display }) =>
    [...text.matchAll(pattern)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      segment: { kind: 'latex', text: match[0], latex: match[1].trim(), display },
    })),
  )
}

/** The numbers of a text that were computed, or that nothing supports; what is printed needs no remark. */
function checkRanges(text, checks, findings) {
  const worst = new Map()
  for (const check of checks) {
    const known = worst.get(check.number)
    if (!known || SEVERITY.indexOf(check.finding) > SEVERITY.indexOf(known.finding)) worst.set(check.number, check)
  }
  const ranges = []
  for (const check of worst.values()) {
    if (check.finding !== 'computed' && check.finding !== 'unsupported') continue
    const finding = findings.find((one) => one.kind === 'number' && one.subject === check.number)
    ranges.push(...placesOf(text, check.number, { kind: 'check', text: check.number, check, finding }))
  }
  return ranges
}

/** The first place of each name, quotation, link and extreme value that a finding is about. */
function wordRanges(text, findings) {
  return findings
    .filter((one) => one.subject && ['name', 'quotation', 'extreme', 'link'].includes(one.kind))
    .flatMap((finding) => placesOf(text, finding.subject, { kind: 'finding', text: finding.subject, finding }).slice(0, 1))
}

/** The places of whole words or a whole number in a text, each with the segment. */
function placesOf(text, words, segment) {
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}]|\\p{N}[.,])${escaped(words)}(?![\\p{L}\\p{N}]|[.,]\\p{N})`, 'gu')
  return [...text.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + words.length, segment }))
}

/** The ranges in order, without those that overlap an earlier one. */
function separate(ranges) {
  const kept = []
  for (const range of ranges) {
    if (kept.every((one) => range.end <= one.start || range.start >= one.end)) kept.push(range)
  }
  return kept.sort((one, other) => one.start - other.start)
}

function segmentsOf(text, start, end, ranges, marks) {
  const segments = []
  const plain = (from, to) => to > from && segments.push({ kind: 'text', text: text.slice(from, to) })
  const stops = [...marks.keys()].filter((at) => at > start && at <= end).sort((one, other) => one - other)
  let at = start
  const writeUntil = (to) => {
    while (stops.length && stops[0] <= to) {
      const stop = stops.shift()
      plain(at, Math.max(at, stop))
      at = Math.max(at, stop)
      marks.get(stop).forEach((claim) => segments.push({ kind: 'mark', claim }))
    }
    plain(at, to)
    at = Math.max(at, to)
  }
  for (const range of ranges) {
    if (range.start < start || range.end > end) continue
    writeUntil(range.start)
    segments.push(range.segment)
    at = range.end
  }
  writeUntil(end)
  return segments
}

function escaped(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
