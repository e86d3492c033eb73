/** Hooks that several views share. */

import { useCallback, useEffect, useRef, useState } from './preact.js'

/**
 * Loads something, again when `inputs` change. What was loaded stays while it is loaded again.
 *
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} inputs
 * @returns {{data: T | undefined, error: Error | undefined, loading: boolean, reload: () => void, set: (data: T) => void}}
 */
export function useAsync(load, inputs) {
  const [state, setState] = useState({ data: undefined, error: undefined, loading: true })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    setState((before) => ({ ...before, loading: true }))
    load(abort.signal).then(
      (data) => abort.signal.aborted || setState({ data, error: undefined, loading: false }),
      (error) => abort.signal.aborted || setState((before) => ({ ...before, error, loading: false })),
    )
    return () => abort.abort()
  }, [...inputs, round])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  const set = useCallback((data) => setState({ data, error: undefined, loading: false }), [])
  return { ...state, reload, set }
}

/** Whether a media query matches. @param {string} query */
export function useMedia(query) {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const read = () => setMatches(media.matches)
    read()
    media.addEventListener('change', read)
    return () => media.removeEventListener('change', read)
  }, [query])
  return matches
}

/** A value that settles: it changes once `value` has not changed for some time. */
export function useDebounced(value, milliseconds = 200) {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return settled
}

/** Calls `handler` for each event of a target while the component is there. */
export function useEvent(target, type, handler) {
  const current = useRef(handler)
  current.current = handler
  useEffect(() => {
    const listen = (event) => current.current(event)
    target.addEventListener(type, listen)
    return () => target.removeEventListener(type, listen)
  }, [target, type])
}

/** A value of the browser's storage, which may be off. @param {string} key @param {string} [value] null removes it */
export function stored(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(`paperscope.${key}`)
    if (value === null) localStorage.removeItem(`paperscope.${key}`)
    else localStorage.setItem(`paperscope.${key}`, value)
  } catch {
    // Without storage, nothing is remembered.
  }
  return value ?? null
}
