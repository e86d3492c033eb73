/** Uploads: files wait, are sent two at a time, and become jobs. */

import { upload } from '../api.js'
import { createStore } from '../ui/store.js'
import { stored } from '../ui/hooks.js'
import { cancelJob, hasEnded, putJob } from './jobs.js'

/**
 * A file that is or was sent in this page.
 *
 * @typedef {{key: string, file: File, replaces: string, state: 'waiting' | 'sending' | 'refused' | 'sent', share: number,
 *   job: string, error: ?Error}} Upload
 */

const MAX_SENDING = 2
const MAX_REMEMBERED = 200
const BUSY_SECONDS = 5
// A failure of last week is no news.
const RECENT_MILLISECONDS = 24 * 3600 * 1000

export const uploads = createStore(/** @type {Upload[]} */ ([]))
export const dismissed = createStore(new Set(JSON.parse(stored('dismissed-jobs') ?? '[]')))

const sending = new Map()
let following = 1

/** Sends files, in their order. @param {Iterable<File>} files @param {{replaces?: string}} [options] */
export function addFiles(files, { replaces = '' } = {}) {
  const added = Array.from(files, (file) => ({
    key: `upload-${following++}`,
    file,
    replaces,
    state: 'waiting',
    share: 0,
    job: '',
    error: null,
  }))
  uploads.set((before) => [...before, ...added])
  send()
}

/** Sends a file again, which was refused or whose job failed. @param {string} key @param {{password?: string}} [options] */
export function sendAgain(key, { password = '' } = {}) {
  change(key, { state: 'waiting', share: 0, job: '', error: null, password })
  send()
}

/** Stops an upload or its job. @param {UploadRow} row */
export async function cancel(row) {
  if (row.job) await cancelJob(row.job)
  else {
    sending.get(row.key)?.abort()
    uploads.set((before) => before.filter((one) => one.key !== row.key))
  }
}

/** Takes a row that has ended off the list, for good. @param {UploadRow} row */
export function dismiss(row) {
  uploads.set((before) => before.filter((one) => one.key !== row.key))
  if (!row.job) return
  dismissed.set((before) => new Set([...before, row.job].slice(-MAX_REMEMBERED)))
  stored('dismissed-jobs', JSON.stringify([...dismissed.get()]))
}

function change(key, values) {
  uploads.set((before) => before.map((one) => (one.key === key ? { ...one, ...values } : one)))
}

function send() {
  for (const one of uploads.get()) {
    if (sending.size >= MAX_SENDING) return
    if (one.state === 'waiting' && !sending.has(one.key)) sendOne(one)
  }
}

async function sendOne(one) {
  const abort = new AbortController()
  sending.set(one.key, abort)
  change(one.key, { state: 'sending' })
  const form = new FormData()
  form.append('file', one.file, one.file.name)
  if (one.replaces) form.append('replaces', one.replaces)
  if (one.password) form.append('password', one.password)
  try {
    const onProgress = (share) => change(one.key, { share })
    const job = await upload('/v1/papers', form, { onProgress, signal: abort.signal })
    change(one.key, { state: 'sent', job: job.id, password: '' })
    putJob(job)
  } catch (error) {
    if (error.status === 429) {
      // The queue of jobs is full for now.
      change(one.key, { state: 'waiting', share: 0 })
      await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter || BUSY_SECONDS)))
    } else change(one.key, { state: 'refused', error })
  } finally {
    sending.delete(one.key)
    send()
  }
}

/**
 * What the list of uploads shows of one: a file of this page, a job, or both.
 *
 * @typedef {{key: string, job: string, name: string, phase: 'waiting' | 'sending' | 'refused' | 'queued' | 'running' |
 *   'succeeded' | 'failed' | 'cancelled', share: ?number, stage: string, done: number, total: number, cancelling: boolean,
 *   reason: string, lost: boolean, result: any, canSendAgain: boolean}} UploadRow
 */

/**
 * The uploads of this page, and the jobs of others (or of this page before it was reloaded) that run or failed lately.
 *
 * @param {{uploads: Upload[], jobs: import('./jobs.js').Job[], lost: boolean, dismissed: Set<string>, now?: number}} state
 * @returns {UploadRow[]}
 */
export function uploadRows({ uploads, jobs, lost, dismissed, now = Date.now() }) {
  const byId = new Map(jobs.map((job) => [job.id, job]))
  const ours = new Set(uploads.map((one) => one.job))
  const others = jobs.filter((job) => job.kind === 'add' && !ours.has(job.id) && !dismissed.has(job.id))
  const recent = others.filter(
    (job) => !hasEnded(job) || (job.state === 'failed' && now - Date.parse(job.finished) < RECENT_MILLISECONDS),
  )
  return [
    ...uploads.map((one) => rowOf(one, byId.get(one.job), lost)),
    ...recent.map((job) => rowOf(null, job, lost)).reverse(),
  ]
}

function rowOf(one, job, lost) {
  const phase = job?.state ?? (one.state === 'sent' ? 'queued' : one.state)
  // A stage that can't be counted keeps the counts of the one before.
  const counted = phase === 'running' && job.done < job.total
  const share = phase === 'sending' ? one.share : counted ? job.done / job.total : null
  const reason = job?.error || one?.error?.detail || one?.error?.title || ''
  return {
    key: one?.key ?? job.id,
    job: job?.id ?? one.job,
    name: one?.file.name ?? job.name,
    phase,
    share,
    stage: job?.stage ?? '',
    done: job?.done ?? 0,
    total: job?.total ?? 0,
    cancelling: job?.cancelling ?? false,
    reason,
    lost: lost && (phase === 'running' || phase === 'queued'),
    result: job?.result ?? null,
    canSendAgain: Boolean(one) && ['refused', 'failed', 'cancelled'].includes(phase),
  }
}

/** The files of a drop, those of its folders among them. @param {DataTransfer} transfer @returns {Promise<File[]>} */
export async function droppedFiles(transfer) {
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.()).filter(Boolean)
  if (!entries.length) return Array.from(transfer.files)
  return (await Promise.all(entries.map(filesOf))).flat()
}

async function filesOf(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))]
  const reader = entry.createReader()
  const found = []
  for (;;) {
    // A reader returns a part of a folder at a time.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
    if (!part.length) break
    found.push(...part.filter((one) => !one.name.startsWith('.')))
  }
  return (await Promise.all(found.map(filesOf))).flat()
}
