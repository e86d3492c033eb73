/**
 * Motion without a graphics card: while the camera moves, the last drawing is moved and scaled, and drawn anew where it comes
 * to rest. To draw thousands of nodes for each frame would take too long there.
 */

const REST_MILLISECONDS = 160
// Fewer nodes are drawn for each frame.
const MIN_NODES = 800
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i

/** Whether the browser draws without a graphics card. */
export function drawsInSoftware() {
  const context = document.createElement('canvas').getContext('webgl2')
  const facts = context?.getExtension('WEBGL_debug_renderer_info')
  const name = facts ? context.getParameter(facts.UNMASKED_RENDERER_WEBGL) : ''
  context?.getExtension('WEBGL_lose_context')?.loseContext()
  return SOFTWARE.test(name)
}

/**
 * Lets a drawing move as a picture.
 *
 * @param {any} sigma
 * @returns {() => void} ends it
 */
export function moveAsPicture(sigma) {
  const camera = sigma.getCamera()
  const { mouse, ...layers } = sigma.getCanvases()
  const drawSoon = sigma.scheduleRender
  let drawn = camera.getState()
  let timer = 0

  const transform = (value) => Object.values(layers).forEach((layer) => (layer.style.transform = value))
  const place = (cameraState) => sigma.framedGraphToViewport({ x: 0, y: 0 }, { cameraState })

  function movePicture() {
    const state = camera.getState()
    const scale = drawn.ratio / state.ratio
    const [before, now] = [place(drawn), place(state)]
    transform(`translate(${now.x - scale * before.x}px, ${now.y - scale * before.y}px) scale(${scale})`)
  }

  const drawNow = () => {
    timer = 0
    drawSoon.call(sigma)
  }
  sigma.scheduleRender = () => {
    const { x, y, ratio } = camera.getState()
    const isMoved = x !== drawn.x || y !== drawn.y || ratio !== drawn.ratio
    if (sigma.getGraph().order < MIN_NODES || !isMoved) {
      drawSoon.call(sigma)
      return sigma
    }
    movePicture()
    clearTimeout(timer)
    timer = setTimeout(drawNow, REST_MILLISECONDS)
    return sigma
  }
  const onDrawn = () => {
    clearTimeout(timer)
    drawn = camera.getState()
    transform('')
  }
  Object.values(layers).forEach((layer) => (layer.style.transformOrigin = '0 0'))
  sigma.on('afterRender', onDrawn)
  return () => clearTimeout(timer)
}
