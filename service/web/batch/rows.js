/** The rows of a batch, as they come in. */

import { get } from '../api.js'
import { hasEnded } from '../library/jobs.js'
import { useEffect, useRef, useState } from '../ui/index.js'

/**
 * @typedef {{index: number, question: string, status: 'answered' | 'evidence' | 'unanswerable' | 'error', answer: string,
 *   confidence: ?number, seconds: number, findings: object[], error: string, gold: ?string, right: ?number}} Row
 */

/**
 * The rows of a job; more are read when its progress changes, and all again with their scores when it has ended.
 *
 * @param {import('../library/jobs.js').Job | undefined} job
 * @returns {{rows: Row[], scored: boolean, error: ?Error, loading: boolean}}
 */
export function useRows(job) {
  const [state, setState] = useState({ rows: [], scored: false, error: null, loading: true })
  const next = useRef(0)
  const reading = useRef(Promise.resolve())
  const ended = Boolean(job && hasEnded(job))
  useEffect(() => {
    if (!job) return undefined
    const abort = new AbortController()
    const read = async () => {
      if (abort.signal.aborted) return
      try {
        const found = await get(`/v1/jobs/${job.id}/rows?after=${ended ? 0 : next.current}`, { signal: abort.signal })
        next.current = found.next
        setState(({ rows }) => ({ rows: ended ? found.rows : merged(rows, found.rows), scored: found.scored, error: null, loading: false }))
      } catch (error) {
        if (error.name !== 'AbortError') setState((before) => ({ ...before, error, loading: false }))
      }
    }
    // One after another, so that no row is read twice.
    reading.current = reading.current.then(read)
    return () => abort.abort()
  }, [job?.id, job?.done, ended])
  return state
}

/** Rows with newer ones, by their questions' order. @param {Row[]} rows @param {Row[]} newer */
export function merged(rows, newer) {
  const byIndex = new Map([...rows, ...newer].map((row) => [row.index, row]))
  return [...byIndex.values()].sort((a, b) => a.index - b.index)
}

/** The rows whose answer is not the gold answer. @param {Row[]} rows */
export const misses = (rows) => rows.filter((row) => row.gold !== null && (row.right ?? 0) < 1)
