/**
 * Where an answer's text gets the marks of its claims, the findings about its numbers, and its formulas.
 *
 * A claim that occurs in the text is marked at its end. A language model writes its claims beside its text: such a claim is
 * marked in the sentence with which it shares most words, and not at all if it shares less than `SHARED` of them.
 */

/** @typedef {{number: string, finding: string, formula: string, support: object[]}} Check */
/** @typedef {{kind: 'text', text: string} | {kind: 'check', text: string, check: Check, warning?: string}
 *   | {kind: 'warning', text: string, warning: string} | {kind: 'latex', text: string, latex: string, display: boolean}
 *   | {kind: 'mark', claim: number}} Segment */
/** @typedef {{kind: 'paragraph' | 'list', ordered?: boolean, start?: number, lines: Segment[][]}} Block */

const SHARED = 0.4
// Of a number of several digits: two sentences rarely share one by chance.
const NUMBER_WEIGHT = 4
const SHORT_WEIGHT = 0.25
const LATEX = [
  { pattern: /\$\$([^$]+)\$\$/g, display: true },
  { pattern: /\\\[([\s\S]+?)\\\]/g, display: true },
  { pattern: /\\\(([\s\S]+?)\\\)/g, display: false },
  // A single dollar may be money: only what has a command, index or exponent is a formula.
  { pattern: /\$(?=[^$]*[\\^_])(\S(?:[^$\n]*\S)?)\$(?!\d)/g, display: false },
]
const SEVERITY = ['asked', 'printed', 'computed', 'unsupported']
const LIST_ITEM = /^\s*(?:[-*•]|(\d{1,3})[.)])\s+/

const sentencesOf = new Intl.Segmenter(undefined, { granularity: 'sentence' })
const wordsOf = new Intl.Segmenter(undefined, { granularity: 'word' })

/**
 * The blocks of an answer's text.
 *
 * @param {{text: string, claims: {text: string}[], checks?: Check[], warnings?: string[]}} answer
 * @returns {Block[]}
 */
export function blocksOf({ text, claims, checks = [], warnings = [] }) {
  const marks = placeClaims(text, claims)
  const ranges = separate([...latexRanges(text), ...checkRanges(text, checks, warnings), ...wordRanges(text, warnings)])
  const blocks = []
  let at = 0
  for (const line of text.split('\n')) {
    const item = LIST_ITEM.exec(line)
    const start = at + (item?.[0].length ?? 0)
    const segments = line.trim() ? segmentsOf(text, start, at + line.length, ranges, marks) : []
    const last = blocks.at(-1)
    if (item && last?.kind === 'list' && last.ordered === Boolean(item[1])) last.lines.push(segments)
    else if (item) blocks.push({ kind: 'list', ordered: Boolean(item[1]), start: Number(item[1] ?? 1), lines: [segments] })
    else if (line.trim()) blocks.push({ kind: 'paragraph', lines: [segments] })
    at += line.length + 1
  }
  return blocks
}

/** The segments of a text without claims: of a claim itself. */
export function segmentsOfText(text, { checks = [], warnings = [] } = {}) {
  const ranges = separate([...latexRanges(text), ...checkRanges(text, checks, warnings)])
  return segmentsOf(text, 0, text.length, ranges, new Map())
}

/**
 * The claims that get a mark, by the place in the text where it stands.
 *
 * @param {string} text @param {{text: string}[]} claims
 * @returns {Map<number, number[]>} claims count from 0
 */
export function placeClaims(text, claims) {
  const marks = new Map()
  const put = (at, claim) => marks.set(at, [...(marks.get(at) ?? []), claim])
  const sentences = readSentences(text)
  const shared = new Map()
  claims.forEach((claim, index) => {
    const end = endOf(text, claim.text)
    if (end !== null) {
      put(end, index)
      return
    }
    const words = wordSet(claim.text)
    const [best, share] = bestSentence(sentences, words)
    if (best && share >= SHARED) shared.set(best, [...(shared.get(best) ?? []), { index, words }])
  })
  for (const [sentence, group] of shared) {
    for (const { index, words } of group) put(group.length > 1 ? partEnd(text, sentence, words, group) : sentence.end, index)
  }
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

function readSentences(text) {
  const sentences = []
  let at = 0
  for (const line of text.split('\n')) {
    for (const { segment, index } of sentencesOf.segment(line)) {
      const start = at + index
      const words = [...wordsOf.segment(segment)]
        .filter((one) => one.isWordLike)
        .map((one) => ({ word: one.segment.toLowerCase(), end: start + one.index + one.segment.length }))
      if (words.length) sentences.push({ words, start, end: start + segment.trimEnd().length })
    }
    at += line.length + 1
  }
  return sentences
}

function bestSentence(sentences, words) {
  const total = weight(words)
  let best = [null, 0]
  for (const sentence of sentences) {
    const found = new Set(sentence.words.map((one) => one.word))
    const share = weight([...words].filter((word) => found.has(word))) / total
    if (share > best[1]) best = [sentence, share]
  }
  return best
}

/** The end of the part of a sentence that has the words which no other claim of the sentence has. */
function partEnd(text, sentence, words, group) {
  const others = group.filter((one) => one.words !== words)
  const own = sentence.words.filter(({ word }) => words.has(word) && !others.some((one) => one.words.has(word)))
  if (!own.length) return sentence.end
  const from = Math.max(...own.map((one) => one.end))
  const rest = text.slice(from, sentence.end)
  const stop = /[,;:)](?!\d)|\s(?:and|but|while|whereas)\s|[.!?]$/.exec(rest)
  if (!stop) return sentence.end
  return from + stop.index + (/^\s/.test(stop[0]) ? 0 : 1)
}

function wordSet(text) {
  return new Set([...wordsOf.segment(text)].filter((one) => one.isWordLike).map((one) => one.segment.toLowerCase()))
}

function weight(words) {
  let sum = 0
  for (const word of words) sum += /\d\D?\d/.test(word) ? NUMBER_WEIGHT : word.length < 4 ? SHORT_WEIGHT : 1
  return sum || 1
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
function checkRanges(text, checks, warnings) {
  const worst = new Map()
  for (const check of checks) {
    const known = worst.get(check.number)
    if (!known || SEVERITY.indexOf(check.finding) > SEVERITY.indexOf(known.finding)) worst.set(check.number, check)
  }
  const ranges = []
  for (const check of worst.values()) {
    if (check.finding !== 'computed' && check.finding !== 'unsupported') continue
    const warning = warnings.find((one) => new RegExp(`^the number ${escaped(check.number)}(?![\\w.,]*\\d)`).test(one))
    const number = escaped(check.number)
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}]|\\p{N}[.,])${number}(?![\\p{L}\\p{N}]|[.,]\\p{N})`, 'gu')
    for (const match of text.matchAll(pattern)) {
      const segment = { kind: 'check', text: match[0], check, warning }
      ranges.push({ start: match.index, end: match.index + match[0].length, segment })
    }
  }
  return ranges
}

/** The words of a text that a warning quotes: a name, a quotation. */
function wordRanges(text, warnings) {
  const ranges = []
  for (const warning of warnings) {
    const [, , quoted] = /^the (?:quotation|name) (['"])(.*?)\1 is /s.exec(warning) ?? []
    const at = quoted ? text.indexOf(quoted.replaceAll("\\'", "'")) : -1
    if (at >= 0) ranges.push({ start: at, end: at + quoted.length, segment: { kind: 'warning', text: quoted, warning } })
  }
  return ranges
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
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
