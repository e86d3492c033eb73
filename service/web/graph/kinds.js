/** The kinds of entities: their colour and name. */

import { html, t } from '../ui/index.js'

// Each has a colour in styles/graph.css; a model may name others.
const KINDS = ['method', 'dataset', 'metric', 'task', 'concept', 'quantity', 'table', 'figure', 'equation', 'paper']

/** The number of a kind's colour. @param {string} kind */
export function kindIndex(kind) {
  const known = KINDS.indexOf(kind)
  if (known >= 0) return known
  let hash = 0
  for (const letter of kind) hash = (31 * hash + letter.codePointAt(0)) % 997
  return hash % KINDS.length
}

/** What a kind is called: "method", or the name that the model gave it. @param {string} kind */
export const kindName = (kind) => (KINDS.includes(kind) ? t(`graph.kinds.${kind}`) : kind)

/** A dot in the kind's colour. @param {{kind: string}} props */
export function KindDot({ kind }) {
  return html`<span class="kind-dot kind-${kindIndex(kind)}" aria-hidden="true"></span>`
}
