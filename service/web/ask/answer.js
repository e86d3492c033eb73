/** An answer: its text with marks, the evidence of each claim, images, arithmetic, and how it came about. */

import { at } from '../api.js'
import { Dialog, Formula, Icon, Tabs, attempt, copyText, formatNumber, formatSeconds, html, t, useMemo, useState } from '../ui/index.js'
import { evidenceOf, firstOf, labelOf } from './evidence.js'
import { exportAnswers } from './export.js'
import { Hint } from './hint.js'
import { blocksOf, cellsOf, segmentsOfText, states } from './marks.js'

/**
 * @param {{answer: any, turn: number, active: string, removed: Set<string>, onOpen: (key: string) => void, actions: any}} props
 *   `turn` tells the ids of its marks from those of other answers; `active` is the key of the evidence that the viewer shows
 */
export function AnswerView({ answer, turn, active, removed, onOpen, actions }) {
  const items = useMemo(() => evidenceOf(answer), [answer])
  const blocks = useMemo(() => blocksOf(answer), [answer])
  const view = { answer, turn, items, active, removed, onOpen }
  return html`<div class="answer is-${answer.status}">
    ${answer.status === 'unanswerable' &&
    html`<h3 class="answer-status"><${Icon} name="search" size="18" />${t('ask.notFound')}</h3>`}
    <div class="answer-text">
      ${blocks.map((block) => html`<${BlockView} block=${block} view=${view} />`)}
    </div>
    <${Findings} answer=${answer} />
    <${Evidence} view=${view} />
    <${Arithmetic} view=${view} />
    <${Readings} view=${view} />
    <${Exhibits} view=${view} />
    ${actions}
    <${Folds} answer=${answer} />
  </div>`
}

function BlockView({ block, view }) {
  const lines = block.lines.map((segments) => html`<${Line} segments=${segments} view=${view} />`)
  if (block.kind === 'paragraph') return html`<p dir="auto">${lines}</p>`
  const items = lines.map((line, at) => html`<li dir="auto">${line}${tablesOf(block.below[at]).map((rows) => html`<${Below} rows=${rows} view=${view} />`)}</li>`)
  return block.ordered ? html`<ol start=${block.start}>${items}</ol>` : html`<ul>${items}</ul>`
}

/** Successive rows of as many cells are one table. @returns {import('./marks.js').Segment[][][][]} */
function tablesOf(lines) {
  const tables = []
  for (const row of lines.map(cellsOf)) {
    if (tables.at(-1)?.[0].length === row.length) tables.at(-1).push(row)
    else tables.push([row])
  }
  return tables
}

/** What stands below a list's item: the rows of a table, or lines. */
function Below({ rows, view }) {
  const drawn = (segments) => html`<${Line} segments=${segments} view=${view} />`
  if (rows[0].length === 1) return rows.map(([line]) => html`<div class="below">${drawn(line)}</div>`)
  return html`<div class="below table" tabindex="0">
    <table>
      ${rows.map((row) => html`<tr>${row.map((cell) => html`<td dir="auto">${drawn(cell)}</td>`)}</tr>`)}
    </table>
  </div>`
}

function Line({ segments, view }) {
  const shown = []
  for (const segment of segments) {
    const drawn = html`<${SegmentView} segment=${segment} view=${view} />`
    if (segment.kind !== 'mark') shown.push(segment.kind === 'text' ? segment.text : drawn)
    else shown.push(html`<span class="whole">${lastWord(shown)}${drawn}</span>`)
  }
  return shown
}

/** Takes the last word away from what is shown, so that no line begins with its mark. */
function lastWord(shown) {
  const text = shown.pop()
  if (typeof text !== 'string') return text
  // The word may begin with a number that is a segment of its own.
  if (!/\s/.test(text)) return [shown.pop(), text]
  const at = Math.max(text.lastIndexOf(' '), text.length - LONGEST_WORD) + 1
  shown.push(text.slice(0, at))
  return text.slice(at)
}

function SegmentView({ segment, view }) {
  switch (segment.kind) {
    case 'mark':
      return html`<${Mark} claim=${segment.claim} view=${view} />`
    case 'check':
      return html`<${NumberHint} segment=${segment} view=${view} />`
    case 'finding':
      return html`<${FindingHint} text=${segment.text} finding=${segment.finding} />`
    default:
      return html`<${Formula} latex=${segment.latex} text=${segment.text} display=${segment.display} />`
  }
}

/** The number of a claim; it opens the claim's first evidence. */
function Mark({ claim, view, listed = false }) {
  const { text, evidence } = view.answer.claims[claim]
  const number = claim + 1
  const key = `claim-${claim}-0`
  const isActive = view.active.startsWith(`claim-${claim}-`)
  const label = t(evidence.length ? 'ask.mark' : 'ask.markWithout', { number, claim: text, count: evidence.length })
  const card = html`<span class="card-text" dir="auto">${text}</span>
    ${evidence.map(
      (one) =>
        html`<span class="card-source">
          <span class="card-name" dir="auto">${one.name || one.element}</span>
          ${one.quote && html`<q class="printed" dir="auto">${one.quote}</q>`}
        </span>`,
    )}
    ${!evidence.length && html`<span class="card-warning">${t('ask.noEvidence')}</span>`}`
  const classes = ['mark', isActive && 'active', !evidence.length && 'bare', listed && 'listed'].filter(Boolean).join(' ')
  return html`<${Hint}
    id=${listed ? undefined : `mark-${view.turn}-${claim}`}
    class=${classes}
    label=${label}
    card=${card}
    pressed=${evidence.length ? isActive : undefined}
    onClick=${evidence.length ? () => view.onOpen(key) : undefined}
    >${number}<//
  >`
}

function NumberHint({ segment, view }) {
  const { check, finding, text } = segment
  const isComputed = check.finding === 'computed'
  const index = view.answer.checks.indexOf(check)
  const support = firstOf(view.items, `number-${index}-`)
  const said = isComputed ? check.formula : finding ? sentence(finding.message) : t('ask.unsupportedNumber')
  const card = html`<span class="card-head"><${Icon} name=${isComputed ? 'calculator' : 'warning'} size="16" />${t(isComputed ? 'ask.computed' : 'ask.unsupported')}</span>
    <span class=${isComputed ? 'card-formula' : 'card-text'} dir="auto">${said}</span>
    ${isComputed &&
    check.support.map((one) => html`<span class="card-source"><span class="card-name" dir="auto">${one.name || one.element}</span></span>`)}
    ${isComputed && support && html`<button type="button" class="link" onClick=${() => view.onOpen(support.key)}>${t('ask.showOperands')}</button>`}`
  const label = t(isComputed ? 'ask.computedNumber' : 'ask.flaggedNumber', { number: text, said })
  return html`<${Hint} class="number ${check.finding}" label=${label} card=${card}
    >${text}${!isComputed && html`<${Icon} name="warning" size="14" />`}<//
  >`
}

function FindingHint({ text, finding }) {
  const said = sentence(finding.message)
  const card = html`<span class="card-head"><${Icon} name="warning" size="16" />${t('ask.unsupported')}</span>
    <span class="card-text" dir="auto">${said}</span>`
  return html`<${Hint} class="number unsupported" label=${t('ask.flaggedNumber', { number: text, said })} card=${card}
    >${text}<${Icon} name="warning" size="14"
  /><//>`
}

// A longer word may be broken before its mark.
const LONGEST_WORD = 30

// The kinds of findings that the evidence does not support; others say how the answer came about.
const UNSUPPORTED = new Set(['number', 'quotation', 'name', 'extreme', 'claim', 'link'])

function Findings({ answer }) {
  const unsupported = answer.findings.filter((one) => UNSUPPORTED.has(one.kind))
  // Images that could not be read are shown with their reason.
  const remarks = answer.findings.filter((one) => !UNSUPPORTED.has(one.kind) && !(answer.readings.length && one.kind === 'image'))
  return html`${unsupported.length > 0 &&
    html`<div class="note warn warnings" role="note">
      <${Icon} name="warning" />
      <div>
        <strong>${t('ask.findings', { count: unsupported.length })}</strong>
        <ul>
          ${unsupported.map((one) => html`<li dir="auto">${sentence(one.message)}</li>`)}
        </ul>
      </div>
    </div>`}
    ${remarks.length > 0 &&
    html`<ul class="remarks" aria-label=${t('ask.remarks')}>
      ${remarks.map((one) => html`<li dir="auto"><${Icon} name="info" size="15" /><span>${sentence(one.message)}</span></li>`)}
    </ul>`}`
}

function Evidence({ view }) {
  const { answer, items } = view
  if (!answer.claims.length) return null
  return html`<section class="evidence" aria-label=${t('ask.evidence')}>
    <h3>${t(answer.status === 'unanswerable' ? 'ask.evidenceTowards' : 'ask.evidence')}</h3>
    <ol>
      ${answer.claims.map((claim, number) => {
        const own = items.filter((one) => one.claim === number)
        return html`<li>
          <${Mark} claim=${number} view=${view} listed />
          <div class="claim">
            ${!states(answer.text, claim.text) && html`<p class="claim-text" dir="auto">${plain(claim.text, answer, view)}</p>`}
            ${grouped(own).map((group) => html`<${group.length > 1 ? Cells : Source} item=${group[0]} group=${group} view=${view} />`)}
            ${!own.length && html`<p class="claim-bare">${t('ask.noEvidence')}</p>`}
          </div>
        </li>`
      })}
    </ol>
  </section>`
}

function plain(text, answer, view) {
  return html`<${Line} segments=${segmentsOfText(text, answer)} view=${view} />`
}

// Values of cells are this short; they stand side by side.
const SHORT_QUOTE = 24

/** The evidence in groups: short quotes of one element are together. @param {import('./evidence.js').Item[]} items */
function grouped(items) {
  const groups = []
  for (const item of items) {
    const last = groups.at(-1)
    const fits = last?.at(-1).label === item.label && [item, last[0]].every((one) => one.quote && one.quote.length <= SHORT_QUOTE)
    if (fits) last.push(item)
    else groups.push([item])
  }
  return groups
}

/** Several short quotes from one element. */
function Cells({ group, view }) {
  const gone = view.removed.has(group[0].paper)
  return html`<div class="source cells ${group.some((one) => one.key === view.active) ? 'active' : ''}">
    <span class="source-cells">
      ${group.map(
        (one) =>
          html`<button
            type="button"
            class="chip printed"
            aria-pressed=${view.active === one.key}
            aria-label="${one.quote}, ${one.label}"
            disabled=${gone}
            onClick=${() => view.onOpen(one.key)}
          >
            <span dir="auto">${one.quote}</span>
          </button>`,
      )}
    </span>
    <span class="source-name" dir="auto">${group[0].label}</span>
    ${gone && html`<${Gone} />`}
  </div>`
}

function Gone() {
  return html`<span class="source-gone"><${Icon} name="trash" size="14" />${t('ask.paperRemoved')}</span>`
}

/** A place that supports something; it opens on its page. */
function Source({ item, view }) {
  const alike = view.items.filter((one) => one.claim === item.claim && one.label === item.label)
  const isRead = alike.length === 1 && states(view.answer.text, item.quote)
  const isActive = view.active === item.key
  const gone = view.removed.has(item.paper)
  return html`<button
    type="button"
    class="source ${isActive ? 'active' : ''}"
    aria-pressed=${isActive}
    disabled=${gone}
    onClick=${() => view.onOpen(item.key)}
  >
    ${item.quote && !isRead && html`<span class="source-quote printed" dir="auto">${item.quote}</span>`}
    <span class="source-name" dir="auto">${item.label}</span>
    ${gone && html`<${Gone} />`}
  </button>`
}

function Arithmetic({ view }) {
  const seen = new Set()
  const computed = view.answer.checks
    .map((check, index) => ({ check, index }))
    .filter(({ check }) => check.finding === 'computed' && check.formula && !seen.has(check.formula) && seen.add(check.formula))
  if (!computed.length) return null
  return html`<section class="arithmetic" aria-label=${t('ask.arithmetic')}>
    <h3>${t('ask.arithmetic')}</h3>
    <ul>
      ${computed.map(({ check, index }) => {
        const sources = view.items.filter((one) => one.key.startsWith(`number-${index}-`))
        return html`<li>
          <span class="formula-line">${check.formula}</span>
          ${grouped(sources).map((group) => html`<${Cells} group=${group} view=${view} />`)}
        </li>`
      })}
    </ul>
  </section>`
}

/** What a vision model read, with the picture. */
function Readings({ view }) {
  const { answer } = view
  const [shown, show] = useState(null)
  if (!answer.readings.length) return null
  return html`<section class="readings" aria-label=${t('ask.readings')}>
    <h3>${t('ask.readings')}</h3>
    <ul>
      ${answer.readings.map((reading, index) => {
        const label = labelOf(answer, reading.element)
        const gone = view.removed.has(reading.place.paper)
        const picture = reading.crop || `/v1/papers/${reading.place.paper}/pages/${reading.place.page}.png`
        return html`<li class="reading ${reading.kind === 'unread' || !reading.relevant ? 'minor' : ''}">
          <${Crop} crop=${picture} label=${label} gone=${gone} onOpen=${() => show({ crop: picture, label })} />
          <div>
            <p class="reading-head">
              <strong dir="auto">${label}</strong>
              <span class="badge">${t(readingState(reading))}</span>
            </p>
            <p dir="auto">${reading.kind === 'unread' ? t('ask.unread', { reason: reading.reason }) : reading.text}</p>
            <button type="button" class="link small" disabled=${gone} onClick=${() => view.onOpen(`reading-${index}`)}>
              ${t(gone ? 'ask.paperRemoved' : 'ask.showOnPage')}
            </button>
          </div>
        </li>`
      })}
    </ul>
    ${shown && html`<${Picture} ...${shown} onClose=${() => show(null)} />`}
  </section>`
}

function readingState(reading) {
  if (reading.kind === 'unread') return 'ask.readingUnread'
  if (!reading.relevant) return 'ask.readingIrrelevant'
  return reading.agrees ? 'ask.readingAgrees' : 'ask.readingAdds'
}

/** The tables, figures and equations that the answer cites. */
function Exhibits({ view }) {
  const { answer } = view
  const [shown, show] = useState(null)
  // What was only read is shown with its reading.
  const read = new Set(answer.readings.map((one) => one.element))
  const cited = new Set(answer.claims.flatMap((claim) => claim.evidence.map((one) => one.element)))
  const exhibits = answer.exhibits.map((one, index) => ({ one, index })).filter(({ one }) => cited.has(one.element) || !read.has(one.element))
  if (!exhibits.length) return null
  const open = (index) => {
    const { label, kind, caption, latex, cells, place, crops } = answer.exhibits[index]
    const onPage = view.removed.has(place.paper) ? null : () => { show(null); view.onOpen(`exhibit-${index}`) }
    show({ crops, label: label || t(`ask.kinds.${kind}`), caption, latex, cells, onPage })
  }
  return html`<section class="exhibits" aria-label=${t('ask.exhibits')}>
    <h3>${t('ask.exhibits')}</h3>
    <ul>
      ${exhibits.map(({ one, index }) => {
        const label = one.label || t(`ask.kinds.${one.kind}`)
        const drawn = one.latex && !one.crops.length
        return html`<li>
          <button type="button" class="exhibit" onClick=${() => open(index)}>
            ${drawn ? html`<${Formula} latex=${one.latex} text=${one.caption} />` : html`<${CropImage} crop=${one.crops[0]} gone=${view.removed.has(one.place.paper)} />`}
            <span class="exhibit-label" dir="auto">${label}</span>
            ${!drawn && html`<span class="exhibit-caption" dir="auto">${one.caption}</span>`}
          </button>
        </li>`
      })}
    </ul>
    ${shown && html`<${Picture} ...${shown} onClose=${() => show(null)} />`}
  </section>`
}

function Crop({ crop, label, gone, onOpen }) {
  return html`<button type="button" class="crop" aria-label=${t('ask.enlarge', { label })} disabled=${gone || !crop} onClick=${onOpen}>
    <${CropImage} crop=${crop} gone=${gone} />
  </button>`
}

/** A picture of an element, or what stands for it if it is gone. */
/** The address of a crop, which is given by its hash, or of a page, which is given by its address. */
function addressOf(crop) {
  return at(crop.startsWith('/') ? crop : `/v1/crops/${crop}`)
}

function CropImage({ crop, gone }) {
  const [failed, setFailed] = useState(false)
  if (!crop || gone || failed) return html`<span class="crop-none"><${Icon} name="image" size="22" /></span>`
  return html`<img src="${addressOf(crop)}" alt="" loading="lazy" onError=${() => setFailed(true)} />`
}

function Picture({ crop, crops = [crop], label, caption, latex, cells = [], onPage, onClose }) {
  const footer = onPage && html`<button type="button" class="button" onClick=${onPage}><${Icon} name="paper" size="16" /><span>${t('ask.showOnPage')}</span></button>`
  return html`<${Dialog} title=${label} size="wide" onClose=${onClose} footer=${footer}>
    ${crops.map((one) => html`<img class="picture" src="${addressOf(one)}" alt=${caption || label} />`)}
    ${latex && html`<p class="picture-latex"><${Formula} latex=${latex} display /></p>`}
    ${caption && html`<p class="printed picture-caption" dir="auto">${caption}</p>`}
    ${cells.length > 0 &&
    html`<table class="grid">
      <caption class="visually-hidden">${t('ask.citedCells')}</caption>
      <thead><tr><th scope="col">${t('ask.cellRow')}</th><th scope="col">${t('ask.cellColumn')}</th><th scope="col">${t('ask.cellValue')}</th></tr></thead>
      <tbody>${cells.map((one) => html`<tr><td dir="auto">${one.row}</td><td dir="auto">${one.column}</td><td dir="auto"><mark>${one.cell.text}</mark></td></tr>`)}</tbody>
    </table>`}
  <//>`
}

/** How the answer came about: time, cost, and the context that it was made from. */
function Folds({ answer }) {
  return html`<div class="folds">
    <details class="fold">
      <summary><${Icon} name="chevronRight" size="14" />${t('ask.made')} <span class="fold-note">${summary(answer)}</span></summary>
      <${Made} answer=${answer} />
    </details>
    <details class="fold">
      <summary><${Icon} name="chevronRight" size="14" />${t('ask.context')} <span class="fold-note">${contextSummary(answer.context)}</span></summary>
      <${ContextView} answer=${answer} />
    </details>
  </div>`
}

function summary({ model, seconds, usage }) {
  const tokens = usage.prompt_tokens + usage.completion_tokens
  return [
    model || t('ask.noModel'),
    formatSeconds(seconds),
    tokens > 0 && t('ask.tokens', { count: tokens }),
    usage.cost > 0 && t('ask.cost', { cost: formatCost(usage.cost) }),
  ].filter(Boolean).join(' · ')
}

function formatCost(cost) {
  return formatNumber(cost, { minimumFractionDigits: 2, maximumFractionDigits: 4 })
}

function contextSummary({ sources, entities, relations, images }) {
  return [
    t('ask.contextSources', { count: sources.length }),
    t('ask.contextEntities', { count: entities.length }),
    t('ask.contextRelations', { count: relations.length }),
    images.length > 0 && t('ask.contextImages', { count: images.length }),
  ].filter(Boolean).join(' · ')
}

function Made({ answer }) {
  const { usage, stages, confidence, look_ups: lookUps = [] } = answer
  const longest = Math.max(...stages.map((one) => one.seconds), 0.001)
  const rows = [
    [t('ask.madeModel'), answer.model || t('ask.noModelLong')],
    usage.calls + usage.cached > 0 && [t('ask.madeCalls'), t('ask.madeCallsValue', { calls: usage.calls, cached: usage.cached })],
    usage.prompt_tokens > 0 && [t('ask.madeTokens'), t('ask.madeTokensValue', { prompt: usage.prompt_tokens, completion: usage.completion_tokens })],
    usage.cost > 0 && [t('ask.madeCost'), formatCost(usage.cost)],
    lookUps.length > 0 && [t('ask.madeLookUps'), lookUps.map(({ call }) => [call.tool, call.argument].filter(Boolean).join(' ')).join(', ')],
    confidence !== null && [t('ask.madeConfidence'), t('ask.madeConfidenceValue', { percent: formatNumber(confidence, { style: 'percent' }) })],
  ].filter(Boolean)
  return html`<div class="made">
    <dl>
      ${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
    <ul class="stages" aria-label=${t('ask.madeStages')}>
      ${stages.map(
        (one) =>
          html`<li>
            <span>${stageName(one.stage)}</span>
            <span class="stage-bar"><span style=${{ width: `${(100 * one.seconds) / longest}%` }}></span></span>
            <span class="stage-time">${formatSeconds(one.seconds)}</span>
            <span class="stage-tokens">${stageTokens(one)}</span>
          </li>`,
      )}
    </ul>
    ${answer.merged &&
    html`<div><h4>${t('ask.firstAnswer')}</h4><p class="initial" dir="auto">${answer.initial}</p></div>`}
  </div>`
}

/** The tokens of a stage; "" if it called no model, and for answers stored before stages had a usage. */
function stageTokens({ usage }) {
  const tokens = usage ? usage.prompt_tokens + usage.completion_tokens : 0
  return tokens > 0 ? t('ask.tokens', { count: tokens }) : ''
}

/** The name of a stage, also of one that the page does not know. */
export function stageName(stage) {
  const [, done, total] = /^asking papers(?:: (\d+) of (\d+))?$/.exec(stage) ?? []
  if (stage.startsWith('asking papers')) return total ? t('ask.askedPapers', { done, total }) : t('ask.askingPapers')
  const known = ['understanding', 'retrieving', 'answering', 'looking up', 'reading images', 'merging', 'verifying']
  return known.includes(stage) ? t(`ask.stages.${stage}`) : stage
}

const COLUMNS = {
  sources: ['id', 'content', 'section', 'label', 'page'],
  entities: ['id', 'entity', 'type', 'description', 'rank'],
  relations: ['id', 'source', 'target', 'description', 'weight'],
  images: ['id', 'label', 'caption', 'element', 'page'],
}

function ContextView({ answer }) {
  const { context } = answer
  const [section, setSection] = useState('sources')
  const copy = attempt(async () => copyText(await exportAnswers([answer], 'context')), t('common.copied'))
  const tabs = Object.keys(COLUMNS)
    .filter((key) => context[key].length)
    .map((key) => ({ key, label: `${t(`ask.contextTabs.${key}`)} (${context[key].length})` }))
  if (!tabs.length) return html`<p class="hint">${t('ask.contextEmpty')}</p>`
  const active = tabs.some((tab) => tab.key === section) ? section : tabs[0].key
  return html`<div class="context">
    <button type="button" class="button quiet small context-copy" onClick=${copy}><${Icon} name="copy" size="15" /><span>${t('ask.copyCsv')}</span></button>
    <${Tabs} label=${t('ask.context')} tabs=${tabs} active=${active} onChange=${setSection}>
      <div class="wide-table" role="region" tabindex="0" aria-label=${t(`ask.contextTabs.${active}`)}>
        <table class="grid">
          <thead><tr>${COLUMNS[active].map((column) => html`<th scope="col">${t(`ask.columns.${column}`)}</th>`)}</tr></thead>
          <tbody>
            ${context[active].map(
              (row) => html`<tr>${COLUMNS[active].map((column) => html`<td class=${column} dir="auto">${cell(row, column)}</td>`)}</tr>`,
            )}
          </tbody>
        </table>
      </div>
    <//>
  </div>`
}

function cell(row, column) {
  if (column === 'page') return row.place.page
  if (column === 'element') return row.element.split('/').pop()
  return row[column] ?? ''
}

/** A message as a sentence: it begins with a capital and ends with a stop. */
export function sentence(text) {
  const end = /[.!?…]$/.test(text) ? '' : '.'
  return text.charAt(0).toUpperCase() + text.slice(1) + end
}
