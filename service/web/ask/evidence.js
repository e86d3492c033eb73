/** The evidence of an answer: what its marks, numbers, readings and exhibits open in the page viewer. */

/**
 * @typedef {{key: string, claim: number | null, label: string, quote: string, paper: string, element: string,
 *   places: {page: number, box: number[]}[]}} Item `claim` counts from 0; the box of a paper without pages counts lines
 */

/** @param {any} answer @returns {Item[]} */
export function evidenceOf(answer) {
  const claims = answer.claims.flatMap((claim, number) =>
    claim.evidence.map((one, index) => item(`claim-${number}-${index}`, one, number)),
  )
  const checks = answer.checks.flatMap((check, number) =>
    check.finding === 'computed' ? check.support.map((one, index) => item(`number-${number}-${index}`, one, null)) : [],
  )
  const readings = answer.readings.map((one, index) => placed(`reading-${index}`, one, labelOf(answer, one.element)))
  const exhibits = answer.exhibits.map((one, index) => placed(`exhibit-${index}`, one, one.label || one.kind))
  return [...claims, ...checks, ...readings, ...exhibits]
}

/**
 * The evidence that the viewer lights in a paper: that of all claims, and the active item.
 *
 * @param {Item[]} items @param {string} paper @param {string} active
 */
export function litIn(items, paper, active) {
  return items.filter((one) => one.paper === paper && (one.claim !== null || one.key === active))
}

/** The first item that a check's support or an exhibit opens. @param {Item[]} items @param {string} prefix */
export function firstOf(items, prefix) {
  return items.find((one) => one.key.startsWith(prefix))
}

/** What an answer cites: the ids of its papers, the most cited first. @param {any} answer */
export function citedPapers(answer) {
  const counts = new Map()
  for (const claim of answer.claims) {
    for (const one of claim.evidence) counts.set(one.place.paper, (counts.get(one.place.paper) ?? 0) + 1)
  }
  return [...counts].sort((one, other) => other[1] - one[1]).map(([paper]) => paper)
}

/** The label of an exhibit: "Table 3"; its element's id if it has none. */
export function labelOf(answer, element) {
  const exhibit = answer.exhibits.find((one) => one.element === element)
  const image = answer.context.images.find((one) => one.element === element)
  return exhibit?.label || image?.label || element.split('/').pop()
}

function item(key, evidence, claim) {
  const places = [evidence.place, ...evidence.more_places]
  return {
    key,
    claim,
    label: evidence.name || evidence.element,
    quote: evidence.quote,
    paper: evidence.place.paper,
    element: evidence.element,
    places: places.map(({ page, box }) => ({ page, box })),
  }
}

function placed(key, one, label) {
  const { paper, page, box } = one.place
  return { key, claim: null, label, quote: '', paper, element: one.element, places: [{ page, box }] }
}
