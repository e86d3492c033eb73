/**
 * The HTTP API. Every function throws `ApiError`. A response 401 asks for a key (see `onSignIn`) and then repeats the request.
 */

import { t } from './ui/text.js'

// The service may be below a path of a reverse proxy.
const ROOT = new URL('..', import.meta.url).pathname.replace(/\/$/, '')

/** The address of a path of the service, such as /v1/papers, for links and pictures. @param {string} path */
export const at = (path) => ROOT + path

/** What went wrong: the problem document of a response, or status 0 if there was none. */
export class ApiError extends Error {
  /** @param {{status: number, kind: string, title: string, detail: string, retryAfter?: number}} problem */
  constructor({ status, kind, title, detail, retryAfter }) {
    super(detail || title)
    this.status = status
    this.kind = kind
    this.title = title
    this.detail = detail
    this.retryAfter = retryAfter
  }
}

/** @typedef {{signal?: AbortSignal, keepalive?: boolean, raw?: boolean, accept?: string}} Options */

/** Gets JSON; with `raw`, the response. @param {string} path @param {Options} [options] */
export const get = (path, options) => request('GET', path, undefined, options)
/** @param {string} path @param {unknown} [body] sent as JSON @param {Options} [options] */
export const post = (path, body, options) => request('POST', path, body, options)
/** @param {string} path @param {unknown} [body] sent as JSON @param {Options} [options] */
export const patch = (path, body, options) => request('PATCH', path, body, options)
/** @param {string} path @param {Options} [options] */
export const del = (path, options) => request('DELETE', path, undefined, options)

let signIn = null
let signingIn = null
let signIns = 0

/** Sets what asks for a key; it returns a promise that resolves once there is a session. @param {() => Promise<void>} ask */
export function onSignIn(ask) {
  signIn = ask
}

/** Asks for a key, unless a session began since the request that was refused was sent. @param {number} sent what `signIns` was then */
async function signedIn(sent) {
  if (sent < signIns) return
  signingIn ??= signIn()
    .then(() => (signIns += 1))
    .finally(() => (signingIn = null))
  await signingIn
}

async function request(method, path, body, { raw = false, ...options } = {}) {
  const response = await send(method, path, body, options)
  if (raw) return response
  if (response.status === 204) return undefined
  return response.json().catch(() => Promise.reject(unreachable()))
}

async function send(method, path, body, { accept = 'application/json', ...options } = {}) {
  const headers = { Accept: accept }
  const init = { method, headers, credentials: 'same-origin', ...options }
  if (body instanceof FormData) init.body = body
  else if (body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  const sent = signIns
  let response
  try {
    response = await fetch(at(path), init)
  } catch (error) {
    throw error.name === 'AbortError' ? error : unreachable()
  }
  if (response.ok) return response
  const error = await problemOf(response)
  if (error.status !== 401 || !signIn || path === '/v1/session') throw error
  await signedIn(sent)
  return send(method, path, body, { accept, ...options })
}

/**
 * The events of a server-sent stream, with their data as parsed JSON. An `error` event is thrown as an `ApiError`, and so is
 * a connection that breaks (kind `connection-lost`); an end of the stream is only an end.
 *
 * @param {string} path
 * @param {{body?: unknown, signal?: AbortSignal}} [options] with a body, the request is a POST
 * @returns {AsyncGenerator<{event: string, data: any}>}
 */
export async function* events(path, { body, signal } = {}) {
  const response = await send(body === undefined ? 'GET' : 'POST', path, body, { accept: 'text/event-stream', signal })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw error.name === 'AbortError' ? error : lost()
      })
      if (done) return
      const parts = (rest + value).split(/\r?\n\r?\n/)
      rest = parts.pop()
      for (const part of parts) {
        const found = readEvent(part)
        if (found?.event === 'error') throw errorOf(found.data, found.data.status ?? 500)
        if (found) yield found
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** @param {string} text the lines of an event; comments have none */
function readEvent(text) {
  let event = 'message'
  const data = []
  for (const line of text.split(/\r?\n/)) {
    const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
  return data.length ? { event, data: JSON.parse(data.join('\n')) } : null
}

/**
 * Sends a form and reports how much was sent, which fetch does not.
 *
 * @param {string} path @param {FormData} form
 * @param {{onProgress?: (share: number) => void, signal?: AbortSignal}} [options]
 */
export async function upload(path, form, { onProgress, signal } = {}) {
  const sent = signIns
  const found = await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', at(path))
    request.setRequestHeader('Accept', 'application/json')
    request.upload.onprogress = (event) => event.lengthComputable && onProgress?.(event.loaded / event.total)
    request.onload = () => resolve(request)
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'))
    signal?.addEventListener('abort', () => request.abort())
    request.send(form)
  })
  const body = parsed(found.responseText)
  if (found.status < 300) return body
  const error = errorOf(body, found.status, found.getResponseHeader('Retry-After'))
  if (error.status !== 401 || !signIn) throw error
  await signedIn(sent)
  return upload(path, form, { onProgress, signal })
}

async function problemOf(response) {
  const body = parsed(await response.text().catch(() => ''))
  return errorOf(body, response.status, response.headers.get('Retry-After'))
}

function errorOf(problem, status, retryAfter) {
  return new ApiError({
    status: problem?.status ?? status,
    kind: problem?.type?.split(':').pop() ?? 'unexpected',
    title: problem?.title ?? '',
    detail: problem?.detail ?? t('errors.status', { status: String(status) }),
    retryAfter: retryAfter ? Number(retryAfter) : undefined,
  })
}

function unreachable() {
  return new ApiError({
    status: 0,
    kind: 'unreachable',
    title: t('errors.unreachable'),
    detail: t('errors.unreachableDetail'),
  })
}

function lost() {
  return new ApiError({ status: 0, kind: 'connection-lost', title: t('errors.lost'), detail: t('errors.lostDetail') })
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
