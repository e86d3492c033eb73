/**
 * Lays out a graph beside the page, so that the page stays responsive. Positions are sent as they get better, as fast as the
 * page draws them.
 */

import { createLayout } from './forces.js'

const FRAME_MILLISECONDS = 50

let round = 0
let isAwaited = true

onmessage = async ({ data }) => {
  if (data.next) {
    isAwaited = true
    return
  }
  const ours = ++round
  const { x, y } = data
  const layout = createLayout(data)
  isAwaited = true
  for (let moves = true; moves || !isAwaited; ) {
    const end = performance.now() + FRAME_MILLISECONDS
    while (moves && performance.now() < end) moves = layout.step()
    if (isAwaited) {
      isAwaited = false
      postMessage({ round: data.round, x, y, done: !moves })
      if (!moves) return
    }
    // A newer graph, or the page's request for more, may be waiting.
    await new Promise((resolve) => setTimeout(resolve, moves ? 0 : FRAME_MILLISECONDS))
    if (ours !== round) return
  }
  postMessage({ round: data.round, x, y, done: true })
}
