/** Lays out a graph beside the page, so that the page stays responsive; positions are sent as they get better. */

import { createLayout } from './forces.js'

const FRAME_MILLISECONDS = 50

let round = 0

onmessage = async ({ data }) => {
  const ours = ++round
  const { x, y } = data
  const layout = createLayout(data)
  for (let moves = true; moves; ) {
    const end = performance.now() + FRAME_MILLISECONDS
    while (moves && performance.now() < end) moves = layout.step()
    postMessage({ round: data.round, x, y, done: !moves })
    // A newer graph may be waiting.
    await new Promise((resolve) => setTimeout(resolve))
    if (ours !== round) return
  }
}
