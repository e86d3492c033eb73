/**
 * Conversations, and the questions that are being answered. They live as long as the page, so that an answer goes on while
 * another view is shown.
 */

import { ApiError, del, events, get, patch, post } from '../api.js'
import { stored, useEffect, useLayoutEffect, useState } from '../ui/index.js'
import { citedPapers } from './evidence.js'

/** @typedef {{papers: string[], sections: string[], kinds: string[], years: string}} Filters */
/**
 * @typedef {{key: number, question: string, filters: Filters, state: 'asking' | 'done' | 'failed' | 'lost' | 'stopped',
 *   stage: string, stages: string[], text: string, started: number, answer?: any, error?: ApiError, abort?: AbortController}} Turn
 */
/** @typedef {{id: string, title: string, created: string, updated: string}} Head */

export const NO_FILTERS = Object.freeze({ papers: [], sections: [], kinds: [], years: '' })

// How long, and how often, a conversation is read again after the connection was lost: the service goes on to answer.
const LOST_SECONDS = 300
const LOST_INTERVAL = 3000

// A library that is read-only, without conversations, or on a full disk.
const UNSTORABLE = [403, 404, 405, 507]
const MOST_HISTORY = 50
const ASKED = 'asked'

let following = 1

class Store {
  constructor() {
    this.listeners = new Set()
    this.version = 0
  }

  subscribe(listen) {
    this.listeners.add(listen)
    return () => this.listeners.delete(listen)
  }

  changed() {
    this.version += 1
    this.listeners.forEach((listen) => listen())
  }
}

/** Renders again whenever a store changes, also between the rendering and the subscription. */
function useStore(store) {
  const [, render] = useState(0)
  const { version } = store
  useEffect(() => {
    const unsubscribe = store.subscribe(() => render(store.version))
    if (store.version !== version) render(store.version)
    return unsubscribe
  }, [store])
  return store
}

/** One conversation. Without an id it is new: its first question stores it. */
class Conversation extends Store {
  constructor(id = '') {
    super()
    this.id = id
    this.title = ''
    /** @type {Turn[]} */
    this.turns = []
    this.loaded = !id
    this.error = undefined
    this.unstored = false
    /** The ids of the cited papers that the library no longer has. */
    this.missing = new Set()
  }

  /** Reads what is stored, also again: another tab may have asked, and papers may have been removed. */
  async load() {
    if (this.asking) return
    try {
      this.#read(await get(`/v1/conversations/${this.id}`))
      this.error = undefined
    } catch (error) {
      if (!this.loaded || error.status === 404) this.error = error
    }
    this.changed()
  }

  #read(found) {
    if (this.asking) return
    const known = this.turns.filter((turn) => turn.answer)
    this.turns = [
      ...found.turns.map((answer, index) => (known[index] ? Object.assign(known[index], { answer }) : storedTurn(answer))),
      ...this.turns.filter((turn) => !turn.answer),
    ]
    this.title = found.title
    this.missing = new Set(found.missing_papers)
    if (!this.loaded) this.#resume()
    this.loaded = true
  }

  /** Waits for the answer of a question that was asked before the page was closed or loaded again. */
  #resume() {
    const asked = JSON.parse(stored(ASKED) ?? 'null')
    if (asked?.id !== this.id || asked.before < this.turns.length || Date.now() - asked.time > LOST_SECONDS * 1000) return
    const turn = { ...newTurn(asked.question, asked.filters), state: 'lost', error: broken('page-left') }
    this.turns = [...this.turns, turn]
    this.#recover(turn)
  }

  get asking() {
    return this.turns.some((turn) => turn.state === 'asking')
  }

  /** Asks a question; `again` is a turn that did not end, whose place it takes. */
  async ask(question, filters, again) {
    if (again?.state === 'lost') await this.#cancel()
    const turn = newTurn(question, filters)
    this.turns = [...this.turns.filter((one) => one !== again), turn]
    this.changed()
    try {
      if (!this.id && !this.unstored) await this.#create(question)
      const before = this.unstored ? { history: this.#history(turn) } : { conversation: this.id }
      if (this.id) stored(ASKED, JSON.stringify({ id: this.id, question, filters, before: this.turns.length - 1, time: Date.now() }))
      await this.#follow(turn, { question, stream: true, ...before, ...given(filters) })
    } catch (error) {
      this.#end(turn, error)
    }
    if (turn.state !== 'lost') stored(ASKED, null)
    this.changed()
    if (this.id) list.reload()
  }

  /** Stores the conversation. In a library that cannot be written, it is asked without being stored. */
  async #create(question) {
    let head
    try {
      head = await post('/v1/conversations', {})
    } catch (error) {
      if (!UNSTORABLE.includes(error.status)) throw error
      this.unstored = true
      return
    }
    this.id = head.id
    open.set(this.id, this)
    list.add({ ...head, title: question })
    this.changed()
  }

  #history(turn) {
    const done = this.turns.slice(0, this.turns.indexOf(turn)).filter((one) => one.answer)
    return done.slice(-MOST_HISTORY).map(({ answer }) => ({
      question: answer.asked_as || answer.question,
      answer: answer.text,
      papers: citedPapers(answer),
    }))
  }

  async #follow(turn, body) {
    for await (const { event, data } of events('/v1/query', { body, signal: turn.abort.signal })) {
      if (event === 'stage') {
        // How far a stage is replaces how far it was.
        const before = turn.stages.filter((one) => !data.stage.startsWith(`${one.split(':')[0]}:`))
        turn.stage = data.stage
        turn.stages = [...before, data.stage]
      } else if (event === 'text') {
        turn.text = data.anew ? data.text : turn.text + data.text
      } else if (event === 'done') {
        turn.answer = data
        turn.state = 'done'
      }
      this.changed()
    }
    if (turn.state !== 'done') throw broken('connection-lost')
  }

  #end(turn, error) {
    if (turn.state === 'done' || turn.state === 'stopped') return
    turn.error = error
    turn.state = error.status === 0 ? 'lost' : 'failed'
    if (error.kind === 'connection-lost' && this.id) this.#recover(turn)
  }

  /** Looks whether the service completed the answer meanwhile. */
  async #recover(turn) {
    const known = this.turns.filter((one) => one.state === 'done').length
    const until = Date.now() + LOST_SECONDS * 1000
    while (Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, LOST_INTERVAL))
      if (!this.turns.includes(turn)) return
      const found = await get(`/v1/conversations/${this.id}`).catch(() => null)
      const answer = found?.turns.slice(known).find((one) => one.question === turn.question)
      if (!answer || !this.turns.includes(turn)) continue
      Object.assign(turn, { state: 'done', answer, text: answer.text, error: undefined })
      this.changed()
      return
    }
  }

  /** Stops a question: it costs no further model call, and is not stored. @param {Turn} turn */
  async stop(turn) {
    turn.state = 'stopped'
    turn.abort.abort()
    this.changed()
    await this.#cancel()
  }

  async #cancel() {
    if (this.id) await post(`/v1/conversations/${this.id}/cancel`).catch(() => {})
  }

  /** Takes a turn without an answer away. @param {Turn} turn */
  drop(turn) {
    this.turns = this.turns.filter((one) => one !== turn)
    this.changed()
  }
}

/** The conversations that are stored, the latest first. */
class List extends Store {
  constructor() {
    super()
    /** @type {Head[] | undefined} */
    this.heads = undefined
    this.error = undefined
    this.hidden = new Set()
  }

  async reload() {
    try {
      this.heads = (await get('/v1/conversations')).conversations
      this.error = undefined
    } catch (error) {
      this.error = error
    }
    this.changed()
  }

  get shown() {
    return this.heads?.filter((head) => !this.hidden.has(head.id))
  }

  add(head) {
    this.heads = [head, ...(this.heads ?? [])]
    this.changed()
  }

  async rename(id, title) {
    const head = await patch(`/v1/conversations/${id}`, { title })
    this.heads = this.heads?.map((one) => (one.id === id ? { ...one, ...head, title } : one))
    const conversation = open.get(id)
    if (conversation) conversation.title = title
    conversation?.changed()
    this.changed()
  }

  hide(id) {
    this.hidden.add(id)
    this.changed()
  }

  show(id) {
    this.hidden.delete(id)
    this.changed()
  }

  /** Deletes one that is hidden. */
  async remove(id) {
    open.delete(id)
    await del(`/v1/conversations/${id}`, { keepalive: true })
    this.heads = this.heads?.filter((head) => head.id !== id)
    this.changed()
  }
}

export const list = new List()
const open = new Map()

/** The conversation with this id, or a new one without an id. @param {string} [id] */
export function useConversation(id) {
  const [fresh, setFresh] = useState(() => new Conversation())
  useLayoutEffect(() => {
    // The last new one has been stored, and was left.
    if (!id && fresh.id) setFresh(new Conversation())
  }, [id])
  if (id && !open.has(id)) open.set(id, new Conversation(id))
  const conversation = id ? open.get(id) : fresh
  useEffect(() => {
    if (conversation.id) conversation.load()
  }, [conversation])
  return useStore(conversation)
}

/** The list of conversations, which is loaded when it is first shown. */
export function useConversations() {
  useEffect(() => {
    if (!list.heads) list.reload()
  }, [])
  return useStore(list)
}

/** @returns {Turn} */
function newTurn(question, filters) {
  return {
    key: following++,
    question,
    filters,
    state: 'asking',
    stage: '',
    stages: [],
    text: '',
    started: Date.now(),
    abort: new AbortController(),
  }
}

/** @returns {Turn} */
function storedTurn(answer) {
  return { ...newTurn(answer.question, NO_FILTERS), state: 'done', text: answer.text, started: 0, answer }
}

function broken(kind) {
  return new ApiError({ status: 0, kind, title: '', detail: '' })
}

/** The filters that restrict something. @param {Filters} filters */
export function given(filters) {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value === true || value.length))
}
