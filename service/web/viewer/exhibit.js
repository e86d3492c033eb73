/** A table, figure or equation by itself: as a table to sort and copy, at full size, as LaTeX. */

import { at } from '../api.js'
import {
  Dialog,
  ErrorState,
  Formula,
  Icon,
  Spinner,
  Tabs,
  copyText,
  html,
  t,
  toast,
  useAsync,
  useEffect,
  useState,
} from '../ui/index.js'
import { loadElement } from './elements.js'
import { TableView } from './table.js'
import { sorted, tabSeparated } from './tables.js'

/**
 * @param {{items: {id: string, kind: string}[], id: string, latex: Map<string, string>, marks: object[],
 *   onChange: (id: string) => void, onPlace: (element: object) => void, onClose: () => void}} props `items` are the ones to
 *   step through; `marks` are cited places
 */
export function Exhibit({ items, id, latex, marks, onChange, onPlace, onClose }) {
  const { data, error, reload } = useAsync((signal) => loadElement(id, signal), [id])
  const at = items.findIndex((item) => item.id === id)
  const element = data?.id === id ? data : null
  const step = (by) => onChange(items[(at + by + items.length) % items.length].id)
  const onKeyDown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!by || items.length < 2 || event.target.closest('.paper-table-scroll, [role=tablist], input')) return
    event.preventDefault()
    step(by)
  }
  const title = element?.label || t(`viewer.${items[at]?.kind ?? 'table'}`)
  const footer = html`
    ${items.length > 1 &&
    html`<span class="exhibit-steps">
      <button type="button" class="icon-button" aria-label=${t('viewer.previous')} title=${t('viewer.previous')} onClick=${() => step(-1)}>
        <${Icon} name="chevronLeft" />
      </button>
      <span>${t('viewer.ofMany', { number: at + 1, total: items.length })}</span>
      <button type="button" class="icon-button" aria-label=${t('viewer.next')} title=${t('viewer.next')} onClick=${() => step(1)}>
        <${Icon} name="chevronRight" />
      </button>
    </span>`}
    ${element && html`<button type="button" class="button" onClick=${() => onPlace(element)}><${Icon} name="paper" /><span>${t('viewer.showPlace')}</span></button>`}
  `
  return html`<${Dialog} title=${title} size="wide" onClose=${onClose} footer=${footer}>
    <div class="viewer-exhibit" onKeyDown=${onKeyDown}>
      ${error
        ? html`<${ErrorState} error=${error} onRetry=${reload} />`
        : !element
          ? html`<${Spinner} />`
          : html`
              ${element.caption && html`<p class="viewer-exhibit-caption printed" dir="auto">${element.caption}</p>`}
              ${element.kind === 'table'
                ? html`<${TableExhibit} key=${id} table=${element} marks=${marks} />`
                : element.kind === 'figure'
                  ? html`<${Pictures} element=${element} />`
                  : html`<${EquationExhibit} equation=${element} latex=${element.latex || latex.get(id)} />`}
            `}
    </div>
  <//>`
}

function TableExhibit({ table, marks }) {
  const [by, setBy] = useState(null)
  const [tab, setTab] = useState('table')
  const [paper, name] = table.id.split('/')
  const copy = async () => {
    const cells = by ? sorted(table.cells, { ...by, headerRows: table.header_rows }) : table.cells
    await copied(tabSeparated(cells))
  }
  const marksOf = (cell) => marks.filter(({ page, box }) => page === cell.place.page && same(box, cell.place.box))
  const view = html`
    <div class="exhibit-tools">
      <button type="button" class="button small" onClick=${copy}><${Icon} name="copy" size="16" /><span>${t('viewer.copyTable')}</span></button>
      <a class="button small" href=${at(`/v1/papers/${paper}/tables/${name}.csv`)} download><${Icon} name="download" size="16" /><span>CSV</span></a>
      ${by && html`<button type="button" class="button small quiet" onClick=${() => setBy(null)}><${Icon} name="undo" size="16" /><span>${t('viewer.printedOrder')}</span></button>`}
      ${table.confidence < 0.5 && html`<span class="note warn">${t('viewer.unsureTable')}</span>`}
    </div>
    <${TableView} table=${table} by=${by} onSort=${setBy} marksOf=${marksOf} />
  `
  if (!table.crop) return view
  const tabs = [
    { key: 'table', label: t('viewer.asTable') },
    { key: 'picture', label: t('viewer.asPrinted') },
  ]
  return html`<${Tabs} label=${t('viewer.forms')} tabs=${tabs} active=${tab} onChange=${setTab}>
    ${tab === 'table' ? view : html`<${Pictures} element=${table} />`}
  <//>`
}

const same = (one, other) => one.every((value, index) => Math.abs(value - other[index]) < 0.05)

async function copied(text) {
  try {
    await copyText(text)
    toast(t('common.copied'))
  } catch {
    toast(t('common.copyFailed'), { kind: 'error' })
  }
}

/** The crops of an element; a click or Enter shows them at their own size. */
function Pictures({ element }) {
  const [large, setLarge] = useState(false)
  const [missing, setMissing] = useState(false)
  useEffect(() => {
    setLarge(false)
    setMissing(false)
  }, [element.id])
  const crops = [element.crop, ...(element.more_crops ?? [])].filter(Boolean)
  if (missing || !crops.length) return html`<p class="note">${t('viewer.noPicture')}</p>`
  return html`<div class="pictures ${large ? 'large' : ''}">
    ${crops.map(
      (crop) =>
        html`<button type="button" aria-pressed=${large} aria-label=${t(large ? 'viewer.fitPicture' : 'viewer.enlarge')} onClick=${() => setLarge(!large)}>
          <img src=${at(`/v1/crops/${crop}`)} alt=${[element.label, element.caption || element.text].filter(Boolean).join(': ')} onError=${() => setMissing(true)} />
        </button>`,
    )}
  </div>`
}

function EquationExhibit({ equation, latex }) {
  return html`
    ${latex && html`<div class="equation-drawn"><${Formula} latex=${latex} text=${equation.text} display /></div>`}
    ${equation.crop && html`<${Pictures} element=${equation} />`}
    <${Source} name=${t('viewer.asRead')} text=${equation.text} />
    ${latex && html`<${Source} name="LaTeX" text=${latex} />`}
  `
}

function Source({ name, text }) {
  return html`<div class="viewer-source">
    <div class="source-head">
      <h3>${name}</h3>
      <button type="button" class="button small quiet" onClick=${() => copied(text)}><${Icon} name="copy" size="16" /><span>${t('viewer.copy')}</span></button>
    </div>
    <pre tabindex="0" dir="ltr">${text}</pre>
  </div>`
}
