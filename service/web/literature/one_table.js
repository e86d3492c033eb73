/** A literature table: its progress, its cells as they come in, and the place of the one that is open. */

import { at, del, get, patch, post } from '../api.js'
import { Pane, Sheet, Splitter, usePaneWidth } from '../ask/pane.js'
import { cancelJob, hasEnded, jobs, loadJobs, putJob } from '../library/jobs.js'
import { Dialog, EmptyState, ErrorState, Icon, Menu, Spinner, errorTitle, go, html, t, toast, useAsync, useEffect, useMedia, useMemo, useState } from '../ui/index.js'
import { useStore } from '../ui/store.js'
import { CellDetails } from './cell_details.js'
import { Grid, cellAt } from './grid.js'

const WIDE = '(min-width: 62rem)'
const MOST_READINGS = 50
const FORMS = ['xlsx', 'csv', 'md', 'tex', 'bib', 'json']

/** @param {{id: string, query: Record<string, string>}} props */
export function OneTable({ id, query }) {
  const following = useAsync(loadJobs, [])
  const { list, lost } = useStore(jobs)
  const found = useAsync((signal) => get(`/v1/tables/${encodeURIComponent(id)}`, { signal }), [id])
  const table = found.data
  const title = table?.columns.title
  const job = list.find((one) => one.kind === 'table' && one.name === title)
  // A large table is not read again for each of its papers.
  const step = Math.ceil((job?.total || 1) / MOST_READINGS)
  const progress = job && `${job.id} ${Math.floor(job.done / step)} ${hasEnded(job)}`
  useEffect(() => {
    if (progress) found.reload()
  }, [progress])
  const [excluding, setExcluding] = useState(null)
  const isWide = useMedia(WIDE)
  const [width, setWidth] = usePaneWidth()
  const open = table && cellAt(table, query.cell)
  const items = useMemo(() => (open?.cell ? itemsOf(open.cell) : []), [open?.cell])
  const titles = useMemo(() => new Map(table?.rows.map((row) => [row.paper, row.title])), [table])
  if (found.error && !table) {
    const action = html`<a class="button" href="#/tables">${t('literature.all')}</a>`
    return html`<div class="view-state">
      ${found.error.status === 404
        ? html`<${EmptyState} icon="table" title=${t('literature.unknown')} action=${action}>${t('literature.unknownText')}<//>`
        : html`<${ErrorState} error=${found.error} onRetry=${found.reload} />`}
    </div>`
  }
  if (!table || (following.loading && !list.length)) return html`<div class="view-state"><${Spinner} /></div>`
  const attempt = async (work) => {
    try {
      await work()
      found.reload()
    } catch (error) {
      toast(error.detail || errorTitle(error), { kind: 'error' })
    }
  }
  const show = (values) => go(['tables', id], values, { replace: true })
  const close = () => show({})
  const active = items.some((one) => one.key === query.evidence) ? query.evidence : items[0]?.key
  const pane =
    open &&
    html`<div class="cell-pane">
      <${CellDetails}
        key=${query.cell}
        open=${open}
        onClose=${items.length ? null : close}
        onCorrect=${(correction) => attempt(() => patch(`/v1/tables/${id}/cells`, { paper: open.row.paper, row: open.row.name, column: open.column.name, correction }))}
      />
      ${items.length > 0 && html`<${Pane} items=${items} active=${active} titles=${titles} removed=${new Set()} onSelect=${(evidence) => show({ cell: query.cell, evidence })} onClose=${close} />`}
    </div>`
  return html`<div class="batch-row" style=${open && isWide ? { gridTemplateColumns: `minmax(0, 1fr) 1px ${width}%` } : {}}>
    <div class="literature-table">
      <${Head} table=${table} job=${job} lost=${lost} onFill=${() => attempt(() => fill(table))} onDelete=${() => attempt(async () => {
        await del(`/v1/tables/${id}`)
        go(['tables'])
      })} />
      <${Grid} table=${table} open=${query.cell ?? ''} onOpen=${(cell) => show({ cell })} onExclude=${setExcluding} onInclude=${(row) => attempt(() => exclude(id, row, ''))} />
    </div>
    ${open &&
    (isWide
      ? html`<${Splitter} width=${width} onChange=${setWidth} />
          <aside class="ask-pane" aria-label=${t('literature.cell')}>${pane}</aside>`
      : html`<${Sheet} label=${t('literature.cell')} onClose=${close}>${pane}<//>`)}
    ${excluding && html`<${ExcludeDialog} row=${excluding} onClose=${() => setExcluding(null)} onExclude=${(reason) => attempt(() => exclude(id, excluding, reason))} />`}
  </div>`
}

const exclude = (id, row, reason) => patch(`/v1/tables/${id}/rows`, { paper: row.paper, row: row.name, reason })

async function fill({ columns, papers }) {
  const body = columns.columns.map(({ name, instruction, type, unit, values }) => ({ name, instruction, type, unit, values }))
  putJob((await post('/v1/tables', { title: columns.title, rows: columns.rows, columns: body, papers })).job)
}

/** The evidence of a cell, as the viewer takes it. */
function itemsOf(cell) {
  return cell.evidence.map((one, index) => ({
    key: `place-${index}`,
    claim: 0,
    label: one.name || one.element,
    quote: one.quote,
    paper: one.place.paper,
    element: one.element,
    places: [one.place, ...one.more_places].map(({ page, box }) => ({ page, box })),
  }))
}

function Head({ table, job, lost, onFill, onDelete }) {
  const running = job && !hasEnded(job)
  const stop = () => cancelJob(job.id).catch((error) => toast(error.detail || errorTitle(error), { kind: 'error' }))
  const files = FORMS.map((form) => ({ label: t(`literature.forms.${form}`), icon: 'download', href: at(`/v1/tables/${table.id}?format=${form}`) }))
  const failures = (job?.result?.failures ?? []).length
  const menu = [{ label: t('literature.delete'), icon: 'trash', onSelect: onDelete }]
  return html`<header class="page-head literature-head">
      <div>
        <a class="back" href="#/tables"><${Icon} name="chevronLeft" size="16" /><span>${t('literature.title')}</span></a>
        <h1 dir="auto">${table.columns.title}</h1>
      </div>
      <div class="batch-actions">
        ${running
          ? html`<button type="button" class="button" onClick=${stop}><${Icon} name="stop" /><span>${t('literature.stop')}</span></button>`
          : html`<button type="button" class="button" onClick=${onFill}><${Icon} name="refresh" /><span>${t('literature.fillAgain')}</span></button>`}
        ${files.slice(0, 2).map((file) => html`<a class="button" href=${file.href} download><${Icon} name="download" /><span>${file.label}</span></a>`)}
        <${Menu} label=${t('literature.more')} icon="more" items=${[...files.slice(2).map(({ label, href }) => ({ label, icon: 'download', onSelect: () => location.assign(href) })), ...menu]} />
      </div>
    </header>
    ${running &&
    html`<div class="batch-progress" role="status">
      <p>${lost ? t('errors.lost') : t('literature.progress', { done: job.done, total: job.total || table.papers.length })}</p>
      <progress class="upload-progress" aria-label=${t('literature.filling')} value=${job.total ? job.done : undefined} max=${job.total || 1}></progress>
    </div>`}
    ${job?.state === 'failed' && html`<${ErrorState} title=${t('literature.failed')} error=${{ detail: job.error }} />`}
    ${failures > 0 && html`<p class="table-note">${t('literature.failures', { count: failures })}</p>`}`
}

function ExcludeDialog({ row, onClose, onExclude }) {
  const [reason, setReason] = useState('')
  const send = (event) => {
    event.preventDefault()
    onExclude(reason)
    onClose()
  }
  return html`<${Dialog} title=${t('literature.excludeTitle', { title: row.name || row.title })} onClose=${onClose} size="small">
    <form onSubmit=${send}>
      <div class="field">
        <label for="exclude-reason">${t('literature.reason')}</label>
        <input id="exclude-reason" class="input" required maxlength="500" value=${reason} onInput=${(event) => setReason(event.currentTarget.value)} />
      </div>
      <button type="submit" class="button primary" disabled=${!reason.trim()}>${t('literature.exclude')}</button>
    </form>
  <//>`
}
