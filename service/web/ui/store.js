/** State that outlives a view: uploads go on while another view is shown. */

import { useEffect, useState } from './preact.js'

/**
 * A value with listeners.
 *
 * @template T
 * @param {T} value
 */
export function createStore(value) {
  const listeners = new Set()
  return {
    get: () => value,
    /** Sets the value, or changes it by a function. @param {T | ((before: T) => T)} next */
    set(next) {
      const before = value
      value = typeof next === 'function' ? next(value) : next
      if (value !== before) listeners.forEach((listen) => listen())
    },
    subscribe(listen) {
      listeners.add(listen)
      return () => listeners.delete(listen)
    },
  }
}

/** The value of a store; the component is drawn again when it changes. @param {ReturnType<typeof createStore>} store */
export function useStore(store) {
  const [, redraw] = useState(0)
  useEffect(() => {
    const before = store.get()
    const listen = () => redraw((count) => count + 1)
    const unsubscribe = store.subscribe(listen)
    if (store.get() !== before) listen()
    return unsubscribe
  }, [store])
  return store.get()
}
