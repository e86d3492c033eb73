/** The form of a new literature table: its title, columns and papers. */

import { get, post } from '../api.js'
import { boundsText } from '../library/estimate.js'
import { putJob } from '../library/jobs.js'
import { ErrorState, Icon, Spinner, go, html, t, useAsync, useDebounced, useEffect, useState } from '../ui/index.js'

const TYPES = ['text', 'number', 'category', 'yes/no', 'list', 'quotation']
const USUAL = ['objective', 'sample', 'main-result', 'limitations']
const MOST_PAPERS = 200
const EMPTY = { name: '', instruction: '', type: 'text', values: '' }

/** @param {{ready: {name: string, instruction: string}[]}} props */
export function NewTable({ ready }) {
  const [title, setTitle] = useState('')
  const [chosen, setChosen] = useState(USUAL)
  const [own, setOwn] = useState([])
  const [rows, setRows] = useState('')
  const [papers, setPapers] = useState([])
  const [state, setState] = useState({ sending: false, error: null })
  const change = (at, values) => setOwn(own.map((one, index) => (index === at ? { ...one, ...values } : one)))
  const named = own.filter((one) => one.name.trim())
  const columns = [...ready.filter((one) => chosen.includes(one.name)).map(({ name }) => ({ name })), ...named.map(bodyOf)]
  const body = { title, columns, papers, rows: rows.trim() || 'paper' }
  const asked = JSON.stringify(body)
  const [estimate, setEstimate] = useState('')
  useEffect(() => setEstimate(''), [asked])
  const estimated = async () => {
    setEstimate(t('literature.estimating'))
    setEstimate(await post('/v1/tables/estimate', body).then(boundsText, (error) => error.detail || error.title))
  }
  const send = async (event) => {
    event.preventDefault()
    setState({ sending: true, error: null })
    try {
      const { table, job } = await post('/v1/tables', body)
      putJob(job)
      go(['tables', table])
    } catch (error) {
      setState({ sending: false, error })
    }
  }
  return html`<form class="new-table" aria-label=${t('literature.new')} onSubmit=${send}>
    <h2>${t('literature.new')}</h2>
    <p>${t('literature.newText')}</p>
    <div class="field">
      <label for="table-title">${t('literature.name')}</label>
      <input id="table-title" class="input" required maxlength="200" value=${title} onInput=${(event) => setTitle(event.currentTarget.value)} />
    </div>
    <fieldset class="field">
      <legend class="label">${t('literature.columns')}</legend>
      <div class="new-table-ready">
        ${ready.map(
          ({ name, instruction }) =>
            html`<button type="button" class="chip ${chosen.includes(name) ? 'accent' : ''}" key=${name} title=${instruction} aria-pressed=${chosen.includes(name)} onClick=${() => setChosen(toggled(chosen, name))}>${name}</button>`,
        )}
      </div>
      ${own.map((one, at) => html`<${OwnColumn} key=${at} column=${one} number=${at + 1} onChange=${(values) => change(at, values)} onRemove=${() => setOwn(own.filter((_, index) => index !== at))} />`)}
      <button type="button" class="button small" onClick=${() => setOwn([...own, EMPTY])}><${Icon} name="plus" size="16" /><span>${t('literature.addColumn')}</span></button>
    </fieldset>
    <${Papers} chosen=${papers} onChange=${setPapers} />
    <div class="field">
      <label for="table-rows">${t('literature.rows')}</label>
      <input id="table-rows" class="input" maxlength="80" placeholder=${t('literature.rowsExample')} value=${rows} onInput=${(event) => setRows(event.currentTarget.value)} />
    </div>
    ${state.error && html`<${ErrorState} error=${state.error} title=${t('literature.refused')} />`}
    <div class="batch-actions">
      <button type="submit" class="button primary" disabled=${state.sending || !title.trim() || !columns.length}>
        ${state.sending ? html`<${Spinner} label=${t('literature.sending')} />` : html`<${Icon} name="play" /><span>${t('literature.fill')}</span>`}
      </button>
      <button type="button" class="button" disabled=${!title.trim() || !columns.length} onClick=${estimated}><${Icon} name="calculator" size="16" /><span>${t('literature.estimate')}</span></button>
    </div>
    <p class="table-estimate" role="status">${estimate}</p>
  </form>`
}

const toggled = (list, one) => (list.includes(one) ? list.filter((other) => other !== one) : [...list, one])

function bodyOf({ name, instruction, type, values }) {
  const allowed = values.split(';').map((one) => one.trim()).filter(Boolean)
  return { name, instruction, type, values: type === 'category' ? allowed : [] }
}

function OwnColumn({ column, number, onChange, onRemove }) {
  const field = (key, props) =>
    html`<input class="input" aria-label=${t(`literature.${key}`, { number })} placeholder=${t(`literature.${key}`, { number })} value=${column[key]} onInput=${(event) => onChange({ [key]: event.currentTarget.value })} ...${props} />`
  return html`<div class="own-column">
    ${field('name', { maxlength: 80, 'aria-label': t('literature.columnName', { number }), placeholder: t('literature.columnName', { number }) })}
    ${field('instruction', { maxlength: 1000 })}
    <select class="input" aria-label=${t('literature.type', { number })} value=${column.type} onChange=${(event) => onChange({ type: event.currentTarget.value })}>
      ${TYPES.map((one) => html`<option value=${one}>${t(`literature.types.${one.replace('/', '')}`)}</option>`)}
    </select>
    ${column.type === 'category' && field('values', {})}
    <button type="button" class="icon-button" aria-label=${t('literature.removeColumn', { number })} title=${t('literature.removeColumn', { number })} onClick=${onRemove}><${Icon} name="close" /></button>
  </div>`
}

/** The papers that have rows; none for all. */
function Papers({ chosen, onChange }) {
  const [search, setSearch] = useState('')
  const query = useDebounced(search.trim())
  const path = `/v1/papers?limit=${MOST_PAPERS}${query ? `&query=${encodeURIComponent(query)}` : ''}`
  const found = useAsync((signal) => get(path, { signal }), [path])
  return html`<details class="fold">
    <summary><${Icon} name="chevronRight" size="16" />${chosen.length ? t('literature.papers', { count: chosen.length }) : t('literature.allPapers')}</summary>
    <input class="input" type="search" aria-label=${t('literature.searchPapers')} placeholder=${t('literature.searchPapers')} value=${search} onInput=${(event) => setSearch(event.currentTarget.value)} />
    ${found.error && html`<${ErrorState} error=${found.error} onRetry=${found.reload} />`}
    <ul class="table-papers">
      ${(found.data?.papers ?? []).map(
        (paper) =>
          html`<li key=${paper.id}>
            <label><input type="checkbox" checked=${chosen.includes(paper.id)} onChange=${() => onChange(toggled(chosen, paper.id))} /><span dir="auto">${paper.title || paper.file}</span></label>
          </li>`,
      )}
    </ul>
  </details>`
}
