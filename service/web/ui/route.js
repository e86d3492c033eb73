/** Routes are hashes: `#/papers/ID?page=3` is `{path: ['papers', 'ID'], query: {page: '3'}}`. */

import { useEffect, useState } from './preact.js'

/** @typedef {{path: string[], query: Record<string, string>}} Route */

/** @param {string} hash @returns {Route} */
export function parseRoute(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?')
  return {
    path: path.split('/').filter(Boolean).map(decodePart),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** The hash of a route; empty values of the query are left out. @param {string[]} path @param {object} [query] */
export function routeTo(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value != null && value !== '')
  const search = new URLSearchParams(given).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`
}

/** Places as a paper's route takes them, in `at`. @param {{page: number, box: number[]}[]} places */
export function placesQuery(places) {
  return places.map(({ page, box }) => [page, ...box].join(',')).join(';')
}

/** Goes to a route; `replace` leaves no entry in the history. */
export function go(path, query = {}, { replace = false } = {}) {
  const hash = routeTo(path, query)
  if (!replace) {
    location.hash = hash
    return
  }
  history.replaceState(null, '', hash)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

/** The current route. @returns {Route} */
export function useRoute() {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const read = () => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return route
}

/** A part of an address, decoded; as it is if it was not encoded rightly. @param {string} part */
export function decodePart(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
