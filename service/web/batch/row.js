/** A row of a batch: its answer as in a conversation, with the pages of its evidence. */

import { get } from '../api.js'
import { AnswerView } from '../ask/answer.js'
import { citedPapers, evidenceOf } from '../ask/evidence.js'
import { Pane, Sheet, Splitter, usePaneWidth, usePreparedViewer } from '../ask/pane.js'
import { EmptyState, ErrorState, Icon, Spinner, go, html, routeTo, t, useAsync, useMedia, useMemo } from '../ui/index.js'
import { Right } from './row_list.js'

const WIDE = '(min-width: 62rem)'
const MOST_TITLES = 1000

/** @param {{job: import('../library/jobs.js').Job, rows: import('./rows.js').Row[], query: Record<string, string>}} props */
export function BatchRow({ job, rows, query }) {
  const index = Number(query.row)
  const row = rows.find((one) => one.index === index)
  const whole = useAsync(
    async (signal) => (row && row.status !== 'error' ? { index, answer: (await get(`/v1/jobs/${job.id}/rows/${index}`, { signal })).answer } : null),
    [job.id, index, row?.status],
  )
  const library = useAsync((signal) => get(`/v1/papers?limit=${MOST_TITLES}`, { signal }), [])
  const titles = useMemo(() => new Map(library.data?.papers.map((one) => [one.id, one.title || one.file])), [library.data])
  const answer = whole.data?.index === index ? whole.data.answer : null
  const items = useMemo(() => (answer ? evidenceOf(answer) : []), [answer])
  const removed = useMemo(() => removedPapers(items, library.data, titles), [items, library.data])
  const isWide = useMedia(WIDE)
  const [width, setWidth] = usePaneWidth()
  const active = query.evidence ?? ''
  const isOpen = items.some((one) => one.key === active)
  usePreparedViewer(answer && citedPapers(answer).find((paper) => !removed.has(paper)))
  const show = (values) => go(['batches', job.id], { row: query.row, ...values }, { replace: true })
  const at = rows.indexOf(row)
  const beside = { before: rows[at - 1], after: row && rows[at + 1] }
  const step = (to, icon, label) =>
    to
      ? html`<a class="icon-button" href=${routeTo(['batches', job.id], { row: String(to.index) })} aria-label=${t(label)} title=${t(label)}><${Icon} name=${icon} /></a>`
      : html`<span class="icon-button disabled"><${Icon} name=${icon} /></span>`
  const pane = isOpen && html`<${Pane} items=${items} active=${active} titles=${titles} removed=${removed} onSelect=${(key) => show({ evidence: key })} onClose=${() => show({})} />`
  return html`<div class="batch-row" style=${isOpen && isWide ? { gridTemplateColumns: `minmax(0, 1fr) 1px ${width}%` } : {}}>
    <div class="batch-row-answer">
      <header class="batch-row-head">
        <a class="back" href=${routeTo(['batches', job.id])}><${Icon} name="chevronLeft" size="16" /><span dir="auto">${job.name}</span></a>
        <span class="batch-row-steps">
          ${step(beside.before, 'chevronUp', 'batch.previousRow')} ${step(beside.after, 'chevronDown', 'batch.nextRow')}
        </span>
      </header>
      ${row
        ? html`<h1 dir="auto">${row.question}</h1>
            ${row.gold !== null && html`<p class="gold"><span>${t('batch.expected')}</span><strong dir="auto">${row.gold}</strong>${row.right !== null && html`<${Right} right=${row.right} />`}</p>`}
            ${row.status === 'error' && html`<${ErrorState} title=${t('batch.rowFailed')} error=${{ detail: row.error }} />`}
            ${whole.error && html`<${ErrorState} error=${whole.error} onRetry=${whole.reload} />`}
            ${answer && html`<${AnswerView} key=${index} answer=${answer} turn=${0} active=${isOpen ? active : ''} removed=${removed} onOpen=${(key) => show({ evidence: key })} />`}
            ${!answer && !whole.error && row.status !== 'error' && html`<${Spinner} />`}`
        : html`<${EmptyState} icon="batch" title=${t('batch.noRow')}>${t('batch.noRowText')}<//>`}
    </div>
    ${isOpen &&
    (isWide
      ? html`<${Splitter} width=${width} onChange=${setWidth} />
          <aside class="ask-pane" aria-label=${t('ask.pane')}>${pane}</aside>`
      : html`<${Sheet} label=${t('ask.pane')} onClose=${() => show({})}>${pane}<//>`)}
  </div>`
}

/** The cited papers that the library no longer has, if all its papers are known. */
function removedPapers(items, list, titles) {
  if (!list || list.total > titles.size) return new Set()
  return new Set(items.map((one) => one.paper).filter((paper) => !titles.has(paper)))
}
