/** The library's jobs: loaded once, and followed by their events until they have ended. */

import { events, get, post } from '../api.js'
import { createStore } from '../ui/store.js'

/**
 * A job as `GET /v1/jobs/{job}` returns it.
 *
 * @typedef {{id: string, kind: 'add' | 'batch' | 'table', name: string, state: string, stage: string, done: number, total: number,
 *   cancelling: boolean, error: string, result: any, created: string, started: ?string, finished: ?string}} Job
 */

// Browsers open six connections to a server over HTTP/1.1, and other tabs and requests need some.
const MAX_FOLLOWED = 2
const POLL_SECONDS = 4
const MAX_WAIT_SECONDS = 15

/** `list` has the newest job first; `lost` is set while the service can't be reached. */
export const jobs = createStore({ list: /** @type {Job[]} */ ([]), loaded: false, lost: false })

const followed = new Set()
const listeners = new Set()
let polling = false

/** @param {Job} job */
export const hasEnded = (job) => ['succeeded', 'failed', 'cancelled'].includes(job.state)

/** Calls `listen` with each job that ends. Returns what stops it. @param {(job: Job) => void} listen */
export function onEnded(listen) {
  listeners.add(listen)
  return () => listeners.delete(listen)
}

/** Reads the list of jobs, and follows those that have not ended. */
export async function loadJobs() {
  const found = await get('/v1/jobs?limit=300')
  const { list: known, loaded: wasLoaded } = jobs.get()
  const before = new Map(known.map((job) => [job.id, job]))
  // An event may be newer than the list.
  const list = found.map((job) => (before.has(job.id) && hasEnded(before.get(job.id)) ? before.get(job.id) : job))
  jobs.set({ list, loaded: true, lost: false })
  if (wasLoaded) list.filter((job) => hasEnded(job) && !(before.has(job.id) && hasEnded(before.get(job.id)))).forEach(tellEnded)
  follow()
}

/** Adds a job that was just submitted, or its newer state. @param {Job} job */
export function putJob(job) {
  const { list, loaded } = jobs.get()
  const before = list.find((one) => one.id === job.id)
  if (before && hasEnded(before)) return
  jobs.set({ list: before ? list.map((one) => (one === before ? job : one)) : [job, ...list], loaded, lost: false })
  if (hasEnded(job)) tellEnded(job)
  follow()
}

const tellEnded = (job) => listeners.forEach((listen) => listen(job))

/** Asks a job to stop. @param {string} id */
export async function cancelJob(id) {
  putJob(await post(`/v1/jobs/${id}/cancel`))
}

function follow() {
  const running = jobs.get().list.filter((job) => !hasEnded(job))
  // The oldest job is worked on first.
  for (const job of running.reverse()) {
    if (followed.size >= MAX_FOLLOWED) break
    if (!followed.has(job.id)) followEvents(job.id)
  }
  if (running.some((job) => !followed.has(job.id))) poll()
}

async function followEvents(id) {
  followed.add(id)
  for (let wait = 1; ; wait = Math.min(2 * wait, MAX_WAIT_SECONDS)) {
    try {
      for await (const { data } of events(`/v1/jobs/${id}/events`)) {
        wait = 1
        putJob(data)
      }
    } catch (error) {
      if (error.status === 404) {
        jobs.set((before) => ({ ...before, list: before.list.filter((job) => job.id !== id) }))
        break
      }
      jobs.set((before) => ({ ...before, lost: true }))
    }
    const job = jobs.get().list.find((one) => one.id === id)
    if (!job || hasEnded(job)) break
    await sleep(wait)
  }
  followed.delete(id)
  follow()
}

/** Reads the list again and again while there are jobs that are not followed. */
async function poll() {
  if (polling) return
  polling = true
  await sleep(POLL_SECONDS)
  polling = false
  await loadJobs().catch(() => follow())
}

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))
