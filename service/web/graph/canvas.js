/** The drawing of a part of the graph: sigma draws it, a worker lays it out. */

import { neighbours } from './model.js'
import { kindIndex } from './kinds.js'
import { drawsInSoftware, moveAsPicture } from './motion.js'

const MIN_SIZE = 4
const MAX_SIZE = 18
const MIN_SCALE = 0.35
const CROWD = 300
// More edges are left out while the drawing is moved.
const MAX_MOVING_EDGES = 3000
const MAX_EDGE_LABELS = 25
const MIN_LABELLED_WIDTH = 520
const COLOUR_NAMES = ['ink', 'ink-2', 'surface', 'line', 'line-strong', 'accent']

/** Loads the libraries, which are scripts that set globals. */
async function loadLibraries() {
  await Promise.all([import('../vendor/graphology-0.26.0/graphology.umd.min.js'), import('../vendor/sigma-3.0.3/sigma.min.js')])
  return { Graph: globalThis.graphology.UndirectedGraph, Sigma: globalThis.Sigma }
}

/** Whether the browser can draw with WebGL. */
export function canDraw() {
  return Boolean(document.createElement('canvas').getContext('webgl2'))
}

/**
 * A drawing in an element.
 *
 * @param {HTMLElement} container
 * @param {{onSelect: (id: string) => void}} listeners
 */
export async function createCanvas(container, { onSelect }) {
  const { Graph, Sigma } = await loadLibraries()
  const graph = new Graph()
  const worker = new Worker(new URL('layout_worker.js', import.meta.url), { type: 'module' })
  const still = matchMedia('(prefers-reduced-motion: reduce)')
  let shown = { part: null, hidden: new Set(), selected: '' }
  let near = new Set()
  let colours = readColours(container)
  let round = 0
  let isGone = false

  const sigma = new Sigma(graph, container, {
    allowInvalidContainer: true,
    defaultDrawNodeHover: (context, node, settings) => drawNamed(context, node, settings, colours),
    defaultDrawNodeLabel: (context, node, settings) => drawLabel(context, node, settings, colours),
    // A turned map has no use.
    enableCameraRotation: false,
    edgeLabelColor: { color: colours['ink-2'] },
    edgeLabelFont: getComputedStyle(container).fontFamily,
    edgeLabelSize: 11,
    labelDensity: 0.6,
    labelFont: getComputedStyle(container).fontFamily,
    labelGridCellSize: 90,
    labelRenderedSizeThreshold: 5,
    labelSize: 12,
    maxCameraRatio: 4,
    minCameraRatio: 0.02,
    renderEdgeLabels: true,
    stagePadding: 40,
    zIndex: true,
    nodeReducer,
    edgeReducer,
  })
  const endMotion = drawsInSoftware() ? moveAsPicture(sigma) : () => {}
  sigma.on('clickNode', ({ node }) => onSelect(node))
  sigma.on('enterNode', () => (container.style.cursor = 'pointer'))
  sigma.on('leaveNode', () => (container.style.cursor = ''))
  let dragged = null
  sigma.on('downNode', ({ node }) => (dragged = node))
  sigma.on('moveBody', ({ event, preventSigmaDefault }) => {
    if (!dragged) return
    const { x, y } = sigma.viewportToGraph(event)
    // Nodes move under a fixed frame while one is dragged.
    if (!sigma.getCustomBBox()) sigma.setCustomBBox(sigma.getBBox())
    graph.mergeNodeAttributes(dragged, { x, y })
    preventSigmaDefault()
  })
  sigma.on('upNode', () => (dragged = null))
  sigma.on('upStage', () => (dragged = null))

  worker.onmessage = ({ data }) => {
    if (data.round !== round) return
    const begun = performance.now()
    requestAnimationFrame(() => {
      // With reduced motion, only the result is shown.
      if (isGone || data.round !== round) return
      if (!dragged && (data.done || !still.matches)) move(data)
      if (data.done) return
      // The page needs as much time as the drawing took, for what its reader does meanwhile.
      requestAnimationFrame((now) => setTimeout(() => isGone || worker.postMessage({ next: true }), now - begun))
    })
  }

  function move({ x, y }) {
    // Events of single nodes would cost more than drawing all once.
    graph.forEachNode((node, attributes) => {
      attributes.x = x[attributes.index]
      attributes.y = y[attributes.index]
    })
    sigma.refresh()
  }

  function nodeReducer(node, attributes) {
    if (shown.hidden.has(attributes.kind)) return { ...attributes, hidden: true }
    // Many nodes are drawn smaller, so that they don't cover each other.
    const size = attributes.size * Math.max(MIN_SCALE, Math.min(1, Math.sqrt(CROWD / graph.order)))
    const color = colours.kinds[kindIndex(attributes.kind)]
    if (!shown.selected) return { ...attributes, size, color }
    if (node === shown.selected) return { ...attributes, size, color, highlighted: true, zIndex: 2 }
    if (near.has(node)) return { ...attributes, size, color, zIndex: 1, forceLabel: hasRoom() }
    return { ...attributes, size, color: colours.line, label: null }
  }

  function edgeReducer(edge, attributes) {
    const [from, to] = graph.extremities(edge)
    if (!shown.selected) return { ...attributes, label: null, color: colours.line }
    if (from !== shown.selected && to !== shown.selected) return { ...attributes, label: null, color: colours.line, size: 0.5 }
    return { ...attributes, label: hasRoom() ? attributes.label : null, color: colours['line-strong'], zIndex: 1 }
  }

  const hasRoom = () => near.size <= MAX_EDGE_LABELS && container.clientWidth >= MIN_LABELLED_WIDTH

  /** Shows a part of the graph. @param {import('./model.js').Part} part @param {Set<string>} hidden @param {string} selected */
  function show(part, hidden, selected) {
    const changed = part !== shown.part
    shown = { part, hidden, selected: part.entities.has(selected) ? selected : '' }
    near = new Set(shown.selected ? neighbours(part, shown.selected) : [])
    if (changed && update(part)) layOut()
    else sigma.refresh()
  }

  /** Brings the drawing in line with the part. Returns whether nodes or edges came or went. */
  function update(part) {
    const before = graph.order + graph.size
    const gone = graph.filterNodes((node) => !part.entities.has(node))
    gone.forEach((node) => graph.dropNode(node))
    for (const [id, { name, type }] of part.entities) {
      const degree = part.ends.get(id)?.length ?? 0
      const size = Math.min(MIN_SIZE + 1.6 * Math.sqrt(degree), MAX_SIZE)
      if (graph.hasNode(id)) graph.mergeNodeAttributes(id, { size })
      else graph.addNode(id, { label: shortened(name), kind: type, size, ...startOf(part, id) })
    }
    for (const { source, target, kind } of part.relations.values()) {
      if (source === target) continue
      if (!graph.hasEdge(source, target)) graph.addEdge(source, target, { size: 1, label: kind, kinds: [kind] })
      else if (!graph.getEdgeAttribute(source, target, 'kinds').includes(kind)) {
        const kinds = [...graph.getEdgeAttribute(source, target, 'kinds'), kind]
        graph.mergeEdgeAttributes(graph.edge(source, target), { kinds, label: kinds.join(', '), size: Math.min(kinds.length, 4) })
      }
    }
    return gone.length > 0 || graph.order + graph.size !== before
  }

  /** A new node begins beside a neighbour that has a place. */
  function startOf(part, id) {
    const known = neighbours(part, id).find((one) => graph.hasNode(one))
    const from = known ? graph.getNodeAttributes(known) : { x: 0, y: 0 }
    const angle = graph.order * 2.399963
    const distance = 8 + 4 * Math.sqrt(graph.order)
    return { x: from.x + distance * Math.cos(angle), y: from.y + distance * Math.sin(angle) }
  }

  function layOut() {
    round += 1
    sigma.setCustomBBox(null)
    sigma.setSetting('hideEdgesOnMove', graph.size > MAX_MOVING_EDGES)
    sigma.setSetting('labelRenderedSizeThreshold', graph.order > CROWD ? 3.5 : 5)
    const order = graph.nodes()
    order.forEach((node, index) => graph.setNodeAttribute(node, 'index', index))
    const x = Float32Array.from(order, (node) => graph.getNodeAttribute(node, 'x'))
    const y = Float32Array.from(order, (node) => graph.getNodeAttribute(node, 'y'))
    const indexOf = (node) => graph.getNodeAttribute(node, 'index')
    const edges = Uint32Array.from(graph.edges().flatMap((edge) => graph.extremities(edge).map(indexOf)))
    worker.postMessage({ round, x, y, edges })
  }

  const resized = new ResizeObserver(() => sigma.resize().refresh())
  resized.observe(container)
  const theme = new MutationObserver(recolour)
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', recolour)

  function recolour() {
    colours = readColours(container)
    sigma.setSetting('edgeLabelColor', { color: colours['ink-2'] })
  }

  const duration = () => (still.matches ? 0 : 200)
  return {
    show,
    sigma,
    zoomIn: () => sigma.getCamera().animatedZoom({ duration: duration(), factor: 1.5 }),
    zoomOut: () => sigma.getCamera().animatedUnzoom({ duration: duration(), factor: 1.5 }),
    fit: () => sigma.getCamera().animatedReset({ duration: duration() }),
    /** Moves a node into the middle. @param {string} id */
    centre(id) {
      const at = sigma.getNodeDisplayData(id)
      if (at) sigma.getCamera().animate({ x: at.x, y: at.y }, { duration: duration() })
    },
    destroy() {
      isGone = true
      resized.disconnect()
      theme.disconnect()
      system.removeEventListener('change', recolour)
      worker.terminate()
      endMotion()
      sigma.kill()
    },
  }
}

/** The colours of the theme, as sigma takes them. */
function readColours(element) {
  const probe = document.createElement('span')
  element.append(probe)
  const read = (name) => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const colours = Object.fromEntries(COLOUR_NAMES.map((name) => [name, read(name)]))
  colours.kinds = Array.from({ length: 10 }, (_, index) => read(`kind-${index}`))
  probe.remove()
  return colours
}

const shortened = (name) => (name.length > 36 ? `${name.slice(0, 35)}…` : name)

/** Where a label begins: to the right of its node, or to the left where there is no room. */
function labelStart(context, node, width, gap) {
  const room = context.canvas.clientWidth || Infinity
  const right = node.x + node.size + gap
  return right + width <= room ? right : Math.max(node.x - node.size - gap - width, 0)
}

function drawLabel(context, node, settings, colours) {
  if (!node.label) return
  context.font = `${settings.labelSize}px ${settings.labelFont}`
  const x = labelStart(context, node, context.measureText(node.label).width, 4)
  const y = node.y + settings.labelSize / 3
  context.lineJoin = 'round'
  context.lineWidth = 3
  context.strokeStyle = colours.surface
  context.strokeText(node.label, x, y)
  context.fillStyle = colours.ink
  context.fillText(node.label, x, y)
}

/** A node under the pointer, or the selected one: a ring, and the name on a ground. */
function drawNamed(context, node, settings, colours) {
  context.beginPath()
  context.arc(node.x, node.y, node.size + 4, 0, 2 * Math.PI)
  context.lineWidth = 2
  context.strokeStyle = colours.accent
  context.stroke()
  if (!node.label) return
  context.font = `600 ${settings.labelSize + 1}px ${settings.labelFont}`
  const width = context.measureText(node.label).width + 10
  const height = settings.labelSize + 10
  // It covers the plain label.
  const left = labelStart(context, node, width, 2)
  context.beginPath()
  context.roundRect(left, node.y - height / 2, width, height, 5)
  context.fillStyle = colours.surface
  context.fill()
  context.lineWidth = 1
  context.strokeStyle = colours['line-strong']
  context.stroke()
  context.fillStyle = colours.ink
  context.fillText(node.label, left + 5, node.y + settings.labelSize / 3)
}
