/** Hits of a search, drawn by the browser over text nodes (CSS custom highlights), so that no element is added. */

const NAMES = { all: 'search-hits', current: 'search-hit' }

/**
 * Highlights ranges.
 *
 * @param {Range[]} ranges
 * @param {Range} [current] the one that the reader is at
 * @returns {() => void} removes them
 */
export function highlight(ranges, current) {
  // A browser without custom highlights still scrolls to the hit.
  if (!CSS.highlights) return () => {}
  const all = registered(NAMES.all, 0)
  const one = registered(NAMES.current, 1)
  ranges.forEach((range) => all.add(range))
  if (current) one.add(current)
  return () => {
    ranges.forEach((range) => all.delete(range))
    if (current) one.delete(current)
  }
}

function registered(name, priority) {
  if (!CSS.highlights.has(name)) {
    const made = new Highlight()
    made.priority = priority
    CSS.highlights.set(name, made)
  }
  return CSS.highlights.get(name)
}
