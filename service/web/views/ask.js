/** Ask: a conversation with the papers, and the page that its evidence is on. */

import { get } from '../api.js'
import { AnswerView, stageName } from '../ask/answer.js'
import { Composer } from '../ask/composer.js'
import { ConversationMenu } from '../ask/conversation_list.js'
import { NO_FILTERS, useConversation } from '../ask/conversations.js'
import { citedPapers, evidenceOf } from '../ask/evidence.js'
import { exportAnswers } from '../ask/export.js'
import { FilterChips } from '../ask/filters.js'
import { Pane, Sheet, Splitter, usePaneWidth, usePreparedViewer } from '../ask/pane.js'
import {
  EmptyState,
  ErrorState,
  Icon,
  Menu,
  Spinner,
  attempt,
  copyText,
  download,
  errorTitle,
  fileName,
  formatSeconds,
  go,
  html,
  t,
  useAsync,
  useEffect,
  useLayoutEffect,
  useMedia,
  useMemo,
  useRef,
  useState,
} from '../ui/index.js'

const WIDE = '(min-width: 62rem)'
const MOST_TITLES = 1000
const LOST = { 'connection-lost': 'ask.lost', 'page-left': 'ask.left' }

/** @param {{route: import('../ui/route.js').Route}} props */
export function Ask({ route }) {
  const id = route.path[1]
  const conversation = useConversation(id)
  const library = useAsync((signal) => get(`/v1/papers?limit=${MOST_TITLES}`, { signal }), [])
  const titles = useMemo(() => new Map(library.data?.papers.map((one) => [one.id, one.title || one.file])), [library.data])
  const [filters, setFilters] = useState(() => ({ ...NO_FILTERS, papers: papersOf(route) }))
  const [draft, setDraft] = useState('')
  const isWide = useMedia(WIDE)
  const [width, setWidth] = usePaneWidth()

  const answers = conversation.turns.map((turn) => turn.answer)
  const removed = conversation.missing
  const shown = answers[Number(route.query.turn)]
  const active = shown ? (route.query.evidence ?? '') : ''
  const items = useMemo(() => (shown ? evidenceOf(shown) : []), [shown])
  const isOpen = items.some((one) => one.key === active)
  const latest = answers.findLast(Boolean)
  usePreparedViewer(latest && citedPapers(latest).find((paper) => !removed.has(paper)))

  useEffect(() => {
    if (!id && conversation.id) go(['ask', conversation.id], {}, { replace: true })
  }, [id, conversation.id])
  useEffect(() => {
    if (route.query.paper) setFilters({ ...NO_FILTERS, papers: papersOf(route) })
  }, [route.query.paper])

  const path = ['ask', conversation.id].filter(Boolean)
  const open = (turn, key) => go(path, { turn, evidence: key }, { replace: isOpen })
  const close = () => go(path, {}, { replace: true })
  const select = (key) => {
    go(path, { turn: route.query.turn, evidence: key }, { replace: true })
    const { claim } = items.find((one) => one.key === key) ?? {}
    if (claim != null) document.getElementById(`mark-${route.query.turn}-${claim}`)?.scrollIntoView({ block: 'center' })
  }
  const ask = (question, again, each = again?.filters.each_paper ?? false) => {
    setDraft('')
    const asked = again?.filters ?? filters
    conversation.ask(question, each ? { ...asked, each_paper: true } : asked, again)
  }

  const pane = isOpen && html`<${Pane} items=${items} active=${active} titles=${titles} removed=${removed} onSelect=${select} onClose=${close} />`
  const view = { conversation, active, shownTurn: Number(route.query.turn), titles, removed, onOpen: open, onAsk: ask }
  const composer = html`<${Composer}
    filters=${filters}
    titles=${titles}
    onFilters=${setFilters}
    followUp=${conversation.turns.length > 0}
    asking=${conversation.asking}
    draft=${draft}
    onAsk=${(question, each) => ask(question, undefined, each)}
    onStop=${() => conversation.stop(conversation.turns.at(-1))}
  />`
  return html`<div class="ask" style=${isOpen && isWide ? { gridTemplateColumns: `minmax(0, 1fr) 1px ${width}%` } : {}}>
    ${conversation.error
      ? html`<div class="view-state"><${Failed} conversation=${conversation} /></div>`
      : !conversation.loaded
        ? html`<div class="view-state"><${Spinner} /></div>`
        : conversation.turns.length
          ? html`<${Thread} view=${view} composer=${composer} />`
          : html`<${Start} library=${library} composer=${composer} filters=${filters} onAsk=${(question) => ask(question)} />`}
    ${isOpen &&
    (isWide
      ? html`<${Splitter} width=${width} onChange=${setWidth} />
          <aside class="ask-pane" aria-label=${t('ask.pane')}>${pane}</aside>`
      : html`<${Sheet} label=${t('ask.pane')} onClose=${close}>${pane}<//>`)}
  </div>`
}

function Failed({ conversation }) {
  if (conversation.error.status !== 404) return html`<${ErrorState} error=${conversation.error} onRetry=${() => conversation.load()} />`
  const action = html`<a class="button primary" href="#/ask">${t('ask.newConversation')}</a>`
  return html`<${EmptyState} icon="ask" title=${t('ask.unknownConversation')} action=${action}>${t('ask.unknownConversationText')}<//>`
}

/** The first question. */
function Start({ library, composer, filters, onAsk }) {
  const { data, error, reload } = library
  if (error) return html`<div class="view-state"><${ErrorState} error=${error} onRetry=${reload} /></div>`
  if (data?.total === 0) {
    const action = html`<a class="button primary" href="#/library"><${Icon} name="plus" /><span>${t('ask.addPapers')}</span></a>`
    return html`<div class="view-state"><${EmptyState} icon="library" title=${t('ask.emptyTitle')} action=${action}>${t('ask.emptyText')}<//></div>`
  }
  return html`<div class="start">
    <div class="start-frame">
      <h1>${t('ask.title')}</h1>
      <p class="start-text">${data ? t('ask.intro', { count: data.total }) : t('common.loading')}</p>
      ${composer} ${data && !filters.papers.length && html`<${Suggestions} papers=${data.papers} onAsk=${onAsk} />`}
    </div>
  </div>`
}

/** Questions that the papers answer: what a table shows, and who mentions an entity that has many relations. */
function Suggestions({ papers, onAsk }) {
  const latest = papers.at(-1)
  const { data } = useAsync((signal) => suggest(latest, papers.length, signal), [latest.id])
  if (!data?.length) return null
  return html`<ul class="suggestions" aria-label=${t('ask.suggestions')}>
    ${data.map(
      (question) =>
        html`<li>
          <button type="button" class="suggestion" onClick=${() => onAsk(question)}><span dir="auto">${question}</span><${Icon} name="chevronRight" size="16" /></button>
        </li>`,
    )}
  </ul>`
}

async function suggest(paper, count, signal) {
  const [{ entities }, { items: tables }] = await Promise.all([
    get(`/v1/graph/entities?paper=${paper.id}&limit=30`, { signal }),
    get(`/v1/gallery?kind=table&paper=${paper.id}&limit=50`, { signal }),
  ]).catch(() => [{ entities: [] }, { items: [] }])
  const name = entities.map((one) => one.name).find((one) => one.length > 3 && !/^(table|figure|equation)\b/i.test(one))
  const table = tables.find((one) => one.label && one.caption)
  // Of a short form, "What is …?" is always good English; other names may be plurals, or need an article.
  const isShort = /^[A-Z][A-Z0-9-]*[A-Z0-9]$/.test(name ?? '')
  return [
    isShort && t('ask.suggestEntity', { name }),
    table && t('ask.suggestTable', { label: table.label, paper: count > 1 ? t('ask.ofPaper', { title: shortTitle(paper) }) : '' }),
    name && (count > 1 || !isShort) && t(count > 1 ? 'ask.suggestMention' : 'ask.suggestPaper', { name }),
  ].filter(Boolean)
}

/** A title without its subtitle. */
function shortTitle({ title, file }) {
  return title.split(': ')[0] || file
}

function Thread({ view, composer }) {
  const { conversation } = view
  const scroller = useRef()
  const last = conversation.turns.at(-1)
  useLayoutEffect(() => {
    // A new question moves to the top, so that its answer is read from the beginning.
    if (last.state !== 'done') scroller.current.querySelector('.turn:last-of-type')?.scrollIntoView({ block: 'start' })
  }, [last.key])
  const title = conversation.title || conversation.turns[0].question
  return html`<div class="thread" ref=${scroller}>
    <header class="thread-head">
      <h1 dir="auto">${title}</h1>
      ${conversation.id && html`<${ConversationMenu} id=${conversation.id} title=${title} current />`}
    </header>
    <div class="turns">
      ${conversation.turns.map((turn, index) => html`<${TurnView} key=${turn.key} turn=${turn} index=${index} view=${view} />`)}
    </div>
    <div class="thread-foot">
      ${conversation.unstored && html`<p class="unstored">${t('ask.unstored')}</p>`}${composer}
    </div>
  </div>`
}

function TurnView({ turn, index, view }) {
  const { answer } = turn
  return html`<article class="turn" aria-label=${turn.question} aria-busy=${turn.state === 'asking'}>
    <h2 class="turn-question" dir="auto">${turn.question}</h2>
    <${FilterChips} filters=${turn.filters} titles=${view.titles} />
    ${answer?.asked_as && answer.asked_as !== turn.question && html`<p class="asked-as" dir="auto">${t('ask.askedAs', { question: answer.asked_as })}</p>`}
    ${answer
      ? html`<${AnswerView}
          answer=${answer}
          turn=${index}
          active=${view.shownTurn === index ? view.active : ''}
          removed=${view.removed}
          onOpen=${(key) => view.onOpen(index, key)}
          actions=${html`<${Actions} answer=${answer} removed=${view.removed} />`}
        />`
      : html`<${Pending} turn=${turn} view=${view} />`}
    <p class="visually-hidden" role="status">
      ${turn.state === 'asking' ? (turn.stage ? stageName(turn.stage) : t('ask.waiting')) : answer && turn.started ? t('ask.ready', { count: answer.claims.length }) : ''}
    </p>
  </article>`
}

// The stages that may change a text.
const CHANGING = ['looking up', 'reading images', 'merging']

/** An answer that is under way, or that did not come. */
function Pending({ turn, view }) {
  const { conversation } = view
  const again = () => view.onAsk(turn.question, turn)
  const buttons = html`<div class="turn-buttons">
    <button type="button" class="button small" onClick=${again}><${Icon} name="refresh" size="16" /><span>${t('ask.again')}</span></button>
    <button type="button" class="button quiet small" onClick=${() => conversation.drop(turn)}>${t('ask.drop')}</button>
  </div>`
  return html`<div class="answer pending ${turn.state}">
    ${turn.state === 'asking' && html`<${Stages} turn=${turn} />`}
    ${turn.text && html`<p class="answer-text streamed" dir="auto">${turn.text}</p>`}
    ${turn.state === 'asking' && turn.text && CHANGING.includes(turn.stage) && html`<p class="draft">${t('ask.draft')}</p>`}
    ${turn.state === 'lost' &&
    html`<div class="note warn" role="alert">
      <${Icon} name="plug" />
      <div>
        <strong>${t(LOST[turn.error.kind] ?? 'errors.unreachable')}</strong>
        <p>${t(turn.error.kind in LOST && conversation.id ? `${LOST[turn.error.kind]}Text` : 'errors.unreachableDetail')}</p>
        ${buttons}
      </div>
    </div>`}
    ${turn.state === 'failed' &&
    html`<div class="note bad" role="alert">
      <${Icon} name="warning" />
      <div>
        <strong>${errorTitle(turn.error)}</strong>
        <p dir="auto">${turn.error.detail ?? String(turn.error)}</p>
        ${turn.error.retryAfter && html`<p>${t('ask.retryAfter', { count: turn.error.retryAfter })}</p>`} ${buttons}
      </div>
    </div>`}
    ${turn.state === 'stopped' &&
    html`<div class="note">
      <${Icon} name="stop" />
      <div><strong>${t('ask.stopped')}</strong>${buttons}</div>
    </div>`}
  </div>`
}

function Stages({ turn }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.floor((now - turn.started) / 1000))
  return html`<div class="progress" aria-hidden="true">
    <${Spinner} label="" size="16" />
    <ol>
      ${turn.stages.map((stage, index) => html`<li class=${index === turn.stages.length - 1 ? 'current' : ''}>${stageName(stage)}</li>`)}
      ${!turn.stages.length && html`<li class="current">${t('ask.waiting')}</li>`}
    </ol>
    <span class="progress-time">${formatSeconds(seconds)}</span>
  </div>`
}

/** What can be done with an answer. */
function Actions({ answer, removed }) {
  const name = fileName(answer.question)
  const cited = citedPapers(answer).filter((paper) => !removed.has(paper))
  const bibtex = async () => {
    const query = cited.map((paper) => `paper=${encodeURIComponent(paper)}`).join('&')
    const response = await get(`/v1/bibtex?${query}`, { raw: true, accept: 'application/x-bibtex, text/plain' })
    await copyText(await response.text())
  }
  const items = [
    { label: t('ask.saveJson'), icon: 'download', onSelect: () => download(`${name}.json`, JSON.stringify(answer, null, 1), 'application/json') },
    { label: t('ask.saveCsv'), icon: 'download', onSelect: attempt(async () => download(`${name}.csv`, await exportAnswers([answer], 'csv'), 'text/csv;charset=utf-8')) },
    { label: t('ask.saveHtml'), icon: 'download', onSelect: attempt(async () => download(`${name}.html`, await exportAnswers([answer], 'html', answer.question), 'text/html;charset=utf-8')) },
  ]
  return html`<div class="actions" role="group" aria-label=${t('ask.actions')}>
    <button type="button" class="button quiet small" onClick=${attempt(async () => copyText(await exportAnswers([answer], 'markdown')), t('common.copied'))}>
      <${Icon} name="copy" size="16" /><span>${t('ask.copy')}</span>
    </button>
    ${cited.length > 0 &&
    html`<button type="button" class="button quiet small" onClick=${attempt(bibtex, t('ask.bibtexCopied', { count: cited.length }))}>
      <${Icon} name="quote" size="16" /><span>${t('ask.bibtex')}</span>
    </button>`}
    <${Menu} label=${t('ask.export')} text=${t('ask.export')} icon="download" items=${items} align="start" class="small" />
  </div>`
}

/** The papers that a route names: `#/ask?paper=ID,ID`. */
const papersOf = (route) => route.query.paper?.split(',').filter(Boolean) ?? []
