/**
 * Open documents. The last ones stay open, with their drawn pages, because answers lead back and forth between papers. A paper
 * that an answer cites is opened before anybody asks for its page.
 */

import { ApiError, get } from '../api.js'
import { Drawings } from './drawings.js'
import { isPaged } from './elements.js'
import { LockedError, openPdf } from './pdf.js'
import { openPictures } from './pictures.js'

const KEPT = 3
const kept = new Map()
const opening = new Map()
const views = new Map()

/** A paper as the API shows it, also the one that was prepared. */
export function loadPaper(id, signal) {
  const prepared = views.get(id)
  // It may have changed when it is opened another time.
  views.delete(id)
  return prepared ?? get(`/v1/papers/${encodeURIComponent(id)}`, { signal })
}

/** Loads a paper and the beginning of its file, so that its pages are shown at once. What fails is left to `openSource`. */
export function prepare(id) {
  if (kept.has(id) || opening.has(id)) return
  const { signal } = new AbortController()
  const view = get(`/v1/papers/${encodeURIComponent(id)}`)
  const opened = view.then((found) => isPaged(found) && openAndKeep({ ...found, id }, { signal, askPassword: async () => null }))
  views.set(id, view)
  opening.set(id, opened)
  view.catch(() => views.delete(id))
  opened.catch(() => {}).finally(() => opening.delete(id))
}

/**
 * Opens the pages of a paper.
 *
 * @param {object} paper as the API shows it, with `id`
 * @param {{signal: AbortSignal, askPassword: (wrong: boolean) => Promise<string | null>}} options
 * @returns {Promise<{source: object, notice: string} | {source: null, notice: string}>} without a source, only the text
 *   can be shown; `notice` is the key of a text that says why, or ""
 */
export async function openSource(paper, options) {
  await opening.get(paper.id)?.catch(() => {})
  const known = kept.get(paper.id)
  if (known) {
    keep(paper.id, known)
    return known
  }
  return openAndKeep(paper, options)
}

async function openAndKeep(paper, options) {
  const opened = await open(paper, options)
  if (opened.source) {
    opened.source.drawings = new Drawings(opened.source)
    keep(paper.id, opened)
  }
  return opened
}

function keep(id, opened) {
  kept.delete(id)
  kept.set(id, opened)
  if (kept.size <= KEPT) return
  const [oldest, { source }] = kept.entries().next().value
  kept.delete(oldest)
  source.close()
}

async function open(paper, options) {
  if (paper.format === 'image') return { source: await openPictures(paper, options), notice: '' }
  try {
    return { source: await openPdf(paper, options), notice: '' }
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof LockedError) return { source: null, notice: 'viewer.locked' }
    if (error.status === 401) {
      // Asks for a key.
      await get('/v1/papers?limit=1', options)
      return open(paper, options)
    }
    return openInstead(paper, options, error.status === 404 ? 'viewer.fileGone' : 'viewer.textInstead')
  }
}

async function openInstead(paper, options, reason) {
  try {
    return { source: await openPictures(paper, options), notice: 'viewer.picturesInstead' }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0) throw error
    return { source: null, notice: reason }
  }
}
