/**
 * A force-directed layout. Nodes repel each other (with the quadtree of Barnes and Hut, in n log n steps), edges pull with a
 * force that grows with their length, and everything is drawn to the middle: the forces of ForceAtlas2 (Jacomy et al., 2014),
 * with a temperature that falls, so that the layout comes to rest.
 */

const GRAVITY = 0.05
const THETA = 1.1
const COOLING = 0.985
const MIN_TEMPERATURE = 0.02
const MAX_DEPTH = 40

/**
 * @param {{x: Float32Array, y: Float32Array, edges: Uint32Array}} graph `edges` has two indices of nodes for each edge; the
 *   positions are changed in place
 */
export function createLayout({ x, y, edges }) {
  const count = x.length
  const mass = new Float32Array(count).fill(1)
  for (const node of edges) mass[node] += 1
  const dx = new Float32Array(count)
  const dy = new Float32Array(count)
  const tree = createTree(count)
  let heat = 1

  /** Moves all nodes once. Returns false once the layout is at rest. */
  function step() {
    dx.fill(0)
    dy.fill(0)
    tree.build(x, y, mass)
    for (let node = 0; node < count; node++) tree.repel(node, dx, dy)
    for (let edge = 0; edge < edges.length; edge += 2) {
      const a = edges[edge]
      const b = edges[edge + 1]
      // A hub's leaves form a ring instead of falling into it.
      const pull = 0.5 / Math.min(mass[a], mass[b])
      const pullX = pull * (x[b] - x[a])
      const pullY = pull * (y[b] - y[a])
      dx[a] += pullX
      dy[a] += pullY
      dx[b] -= pullX
      dy[b] -= pullY
    }
    const reach = 4 + 12 * heat * Math.sqrt(count)
    for (let node = 0; node < count; node++) {
      const distance = Math.hypot(x[node], y[node]) || 1
      dx[node] -= (GRAVITY * mass[node] * x[node]) / Math.sqrt(distance)
      dy[node] -= (GRAVITY * mass[node] * y[node]) / Math.sqrt(distance)
      const force = Math.hypot(dx[node], dy[node]) || 1
      const move = Math.min(force, reach) * heat * 0.5
      x[node] += (dx[node] / force) * move
      y[node] += (dy[node] / force) * move
    }
    heat *= COOLING
    return heat > MIN_TEMPERATURE
  }
  return { step }
}

/** A quadtree in flat arrays, built anew in each step. */
function createTree(count) {
  const capacity = 8 * count + 64
  const child = new Int32Array(4 * capacity)
  const massOf = new Float64Array(capacity)
  const centerX = new Float64Array(capacity)
  const centerY = new Float64Array(capacity)
  const size = new Float64Array(capacity)
  const nodeOf = new Int32Array(capacity)
  const stack = new Int32Array(4 * MAX_DEPTH + 4)
  let used = 0
  let positions

  function addCell(cellSize) {
    const cell = used++
    child.fill(0, 4 * cell, 4 * cell + 4)
    massOf[cell] = centerX[cell] = centerY[cell] = 0
    size[cell] = cellSize
    nodeOf[cell] = -1
    return cell
  }

  function build(x, y, mass) {
    positions = { x, y, mass }
    let left = Infinity
    let top = Infinity
    let right = -Infinity
    let bottom = -Infinity
    for (let node = 0; node < count; node++) {
      left = Math.min(left, x[node])
      right = Math.max(right, x[node])
      top = Math.min(top, y[node])
      bottom = Math.max(bottom, y[node])
    }
    used = 0
    const side = Math.max(right - left, bottom - top, 1) * 1.0001
    addCell(side)
    for (let node = 0; node < count; node++) insert(node, left, top, side)
    for (let cell = 0; cell < used; cell++) {
      centerX[cell] /= massOf[cell] || 1
      centerY[cell] /= massOf[cell] || 1
    }
  }

  function insert(node, left, top, side) {
    const { x, y, mass } = positions
    let cell = 0
    for (let depth = 0; ; depth++) {
      const isEmpty = massOf[cell] === 0
      massOf[cell] += mass[node]
      centerX[cell] += mass[node] * x[node]
      centerY[cell] += mass[node] * y[node]
      // Nodes at one point share a cell.
      if (isEmpty || depth >= MAX_DEPTH || used + 2 >= capacity) {
        if (isEmpty) nodeOf[cell] = node
        return
      }
      const half = side / 2
      const resident = nodeOf[cell]
      if (resident >= 0) {
        nodeOf[cell] = -1
        const quadrant = (x[resident] >= left + half) + 2 * (y[resident] >= top + half)
        const below = (child[4 * cell + quadrant] = addCell(half))
        nodeOf[below] = resident
        massOf[below] = mass[resident]
        centerX[below] = mass[resident] * x[resident]
        centerY[below] = mass[resident] * y[resident]
      }
      const right = x[node] >= left + half
      const low = y[node] >= top + half
      const slot = 4 * cell + right + 2 * low
      if (!child[slot]) child[slot] = addCell(half)
      cell = child[slot]
      if (right) left += half
      if (low) top += half
      side = half
    }
  }

  function repel(node, dx, dy) {
    const { x, y, mass } = positions
    let depth = 0
    stack[depth++] = 0
    while (depth) {
      const cell = stack[--depth]
      let gapX = x[node] - centerX[cell]
      let gapY = y[node] - centerY[cell]
      let square = gapX * gapX + gapY * gapY
      const isLeaf = nodeOf[cell] >= 0
      if (isLeaf && nodeOf[cell] === node) continue
      if (isLeaf || size[cell] * size[cell] < THETA * THETA * square) {
        if (square < 0.01) {
          // Nodes at one point part in some direction.
          gapX = ((node % 7) - 3) / 10 || 0.1
          gapY = ((node % 5) - 2) / 10
          square = 0.01 + gapX * gapX + gapY * gapY
        }
        const push = (10 * mass[node] * massOf[cell]) / square / mass[node]
        dx[node] += gapX * push
        dy[node] += gapY * push
      } else {
        for (let slot = 4 * cell; slot < 4 * cell + 4; slot++) if (child[slot]) stack[depth++] = child[slot]
      }
    }
  }
  return { build, repel }
}
