/** Answers as Markdown, CSV, JSON and HTML. Texts of papers and models are escaped for each. */

import { csvRow, t } from '../ui/index.js'
import { placeClaims } from './marks.js'

const CSV_COLUMNS = ['question', 'status', 'answer', 'claim', 'claim_text', 'evidence', 'paper', 'element', 'page', 'box', 'quote']
const CONTEXT_SECTIONS = {
  entities: ['Entities', ['id', 'entity', 'type', 'description', 'rank', 'place']],
  relations: ['Relationships', ['id', 'source', 'target', 'description', 'weight', 'rank', 'place']],
  sources: ['Sources', ['id', 'content', 'element', 'place']],
  images: ['Images', ['id', 'element', 'label', 'caption', 'crop', 'place']],
}

/** The answers with numbered citations. @param {any[]} answers */
export function toMarkdown(answers) {
  return answers.map(markdownOf).join('\n\n---\n\n') + '\n'
}

function markdownOf(answer) {
  const text = withNumbers(answer).map((part) => (typeof part === 'string' ? markdownText(part) : `[${part.claim + 1}]`)).join('')
  const sources = answer.claims.map((claim, index) => {
    const names = [...new Set(claim.evidence.map((one) => one.name || one.element))]
    return `${index + 1}. ${names.length ? names.map(markdownText).join('; ') : t('ask.noEvidence')}`
  })
  const formulas = [...new Set(answer.checks.map((check) => check.formula).filter(Boolean))]
  return [
    `**${markdownText(answer.question)}**`,
    text,
    sources.length && `${t('ask.evidence')}:\n\n${sources.join('\n')}`,
    formulas.length && `${t('ask.arithmetic')}:\n\n${formulas.map((one) => `- ${markdownText(one)}`).join('\n')}`,
    answer.warnings.length && `${t('ask.notes')}:\n\n${answer.warnings.map((one) => `- ${markdownText(one)}`).join('\n')}`,
  ].filter(Boolean).join('\n\n')
}

/** A row for each piece of evidence, one for a claim without any, one for an answer without claims. @param {any[]} answers */
export function toCsv(answers) {
  const rows = answers.flatMap((answer) => {
    const head = [answer.question, answer.status, answer.text]
    if (!answer.claims.length) return [head]
    return answer.claims.flatMap((claim, index) => {
      const start = [...head, index + 1, claim.text]
      if (!claim.evidence.length) return [start]
      return claim.evidence.flatMap((one) =>
        [one.place, ...one.more_places].map((place) => [...start, one.name, place.paper, one.element, place.page, place.box.join(' '), one.quote]),
      )
    })
  })
  const width = CSV_COLUMNS.length
  return [CSV_COLUMNS, ...rows.map((row) => [...row, ...Array(width - row.length).fill('')])].map(csvRow).join('\r\n') + '\r\n'
}

/** The answers as a document of its own, with the pictures of what they cite. @param {string} title @param {any[]} answers */
export async function toHtml(title, answers) {
  const crops = [...new Set(answers.flatMap((answer) => answer.exhibits.flatMap((one) => one.crops)))]
  const pictures = new Map(await Promise.all(crops.map(async (crop) => [crop, await pictureOf(crop)])))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${escaped(title)}</title><style>${STYLE}</style></head><body><h1>${escaped(title)}</h1>
${answers.map((answer, index) => htmlOf(answer, index, pictures)).join('\n')}
</body></html>
`
}

const STYLE = `body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui,sans-serif;color:#1c1b19}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem}.text{white-space:pre-wrap}sup a{text-decoration:none}
li{margin:.4rem 0}q{font-family:Georgia,serif}.warn{border-left:3px solid #d98e04;padding-left:.75rem}
figure{margin:1rem 0}img{max-width:100%}figcaption{font-size:.9rem;color:#4f4c46}`

function htmlOf(answer, index, pictures) {
  const mark = (claim) => `<sup><a href="#a${index}c${claim}">[${claim + 1}]</a></sup>`
  const text = withNumbers(answer).map((part) => (typeof part === 'string' ? escaped(part) : mark(part.claim))).join('')
  const claims = answer.claims.map((claim, number) => {
    const sources = claim.evidence.map((one) => `<br>${escaped(one.name || one.element)}${one.quote ? `: <q>${escaped(one.quote)}</q>` : ''}`)
    return `<li id="a${index}c${number}" dir="auto">${escaped(claim.text)}${sources.join('')}</li>`
  })
  const formulas = [...new Set(answer.checks.map((check) => check.formula).filter(Boolean))]
  const figures = answer.exhibits.map((one) => {
    const images = one.crops.map((crop) => pictures.get(crop)).filter(Boolean)
    if (!images.length) return ''
    return `<figure>${images.map((src) => `<img src="${src}" alt="">`).join('')}<figcaption dir="auto">${escaped([one.label, one.caption].filter(Boolean).join(': '))}</figcaption></figure>`
  })
  return `<article><h2 dir="auto">${escaped(answer.question)}</h2><p class="text" dir="auto">${text}</p>
${claims.length ? `<h3>${t('ask.evidence')}</h3><ol>${claims.join('')}</ol>` : ''}
${formulas.length ? `<h3>${t('ask.arithmetic')}</h3><ul>${formulas.map((one) => `<li>${escaped(one)}</li>`).join('')}</ul>` : ''}
${answer.warnings.length ? `<div class="warn"><strong>${t('ask.notes')}</strong><ul>${answer.warnings.map((one) => `<li dir="auto">${escaped(one)}</li>`).join('')}</ul></div>` : ''}
${figures.join('')}</article>`
}

async function pictureOf(crop) {
  try {
    const response = await fetch(`/v1/crops/${crop}`)
    if (!response.ok) return ''
    const bytes = new Uint8Array(await response.arrayBuffer())
    let binary = ''
    for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768))
    return `data:image/png;base64,${btoa(binary)}`
  } catch {
    return ''
  }
}

/** The context as the service's CSV sections. @param {any} context */
export function contextCsv(context) {
  return Object.entries(CONTEXT_SECTIONS)
    .map(([key, [title, columns]]) => {
      const rows = context[key].map((row) => columns.map((column) => quoted(column === 'place' ? placesOf(row) : row[column])).join(','))
      return `-----${title}-----\n\`\`\`csv\n${[columns.join(','), ...rows].join('\n')}\n\`\`\`\n`
    })
    .join('')
}

function placesOf(row) {
  const places = row.places ?? [row.place, ...(row.more_places ?? [])]
  return places.map(({ paper, page, box }) => `${paper} p.${page} [${box.map((value) => value.toFixed(1)).join(' ')}]`).join('; ')
}

function quoted(value) {
  return typeof value === 'number' ? String(value) : `"${String(value ?? '').replaceAll('"', '""')}"`
}

/** The text in pieces, with the claims where their marks stand. */
function withNumbers({ text, claims }) {
  const parts = []
  let at = 0
  for (const [end, numbers] of [...placeClaims(text, claims)].sort((one, other) => one[0] - other[0])) {
    parts.push(text.slice(at, end), ...numbers.map((claim) => ({ claim })))
    at = end
  }
  return [...parts, text.slice(at)]
}

function escaped(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return String(text).replace(/[&<>"']/g, (sign) => entities[sign])
}

/** Text for Markdown: its signs are no markup, and no address becomes a link. */
function markdownText(text) {
  return String(text)
    .replace(/[\\`*_[\]~|]/g, '\\$&')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replace(/<(?=[A-Za-z/!?])/g, '&lt;')
    .replace(/^(\s*)([#>]|[-+=]{3,})/gm, '$1\\$2')
    .replace(/\b(https?|ftp|www)([:.])/gi, '$1\\$2')
    .replace(/(\S)\n(?=\S)/g, '$1  \n')
}
