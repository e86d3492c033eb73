/**
 * Removals that can be undone: a paper is hidden at once, and removed from the library once the time to undo has passed.
 * If the page is left before, the paper stays.
 */

import { del } from '../api.js'
import { createStore } from '../ui/store.js'

/** The ids of the papers that are hidden. */
export const removed = createStore(/** @type {Set<string>} */ (new Set()))

/** @param {string[]} papers */
export function hide(papers) {
  removed.set((before) => new Set([...before, ...papers]))
}

/** @param {string[]} papers */
export function restore(papers) {
  removed.set((before) => new Set([...before].filter((paper) => !papers.includes(paper))))
}

/** Removes hidden papers from the library. Those that can't be removed are shown again, and the first error is thrown. */
export async function remove(papers) {
  let failure = null
  for (const paper of papers) {
    try {
      await del(`/v1/papers/${paper}`)
    } catch (error) {
      // Somebody else was faster.
      if (error.status === 404) continue
      restore([paper])
      failure ??= error
    }
  }
  if (failure) throw failure
}
