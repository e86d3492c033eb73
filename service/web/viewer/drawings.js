/** Draws pages one after the other, the most urgent first, and keeps a bounded number of drawn pixels. */

const KEPT_PIXELS = 48_000_000
const AT_ONCE = 2

/** @typedef {{number: number, size: {width: number, height: number}, signal: AbortSignal}} Order */

/** The drawn pages of a document. */
export class Drawings {
  /** @param {{draw: (number: number, size: object, signal: AbortSignal) => Promise<HTMLCanvasElement>}} source */
  constructor(source) {
    this.source = source
    this.kept = new Map()
    this.waiting = []
    this.running = new Set()
    this.current = 1
  }

  /** The page that a reader looks at; pages near it are drawn first. */
  lookAt(number) {
    this.current = number
  }

  /** A drawing of a page if there is one, perhaps of another size. */
  find(number) {
    return this.kept.get(number)?.canvas
  }

  /** Whether a page is drawn at a size. */
  has(number, size) {
    return this.kept.get(number)?.width === widthOf(size)
  }

  /**
   * Draws a page unless it is drawn already.
   *
   * @param {number} number
   * @param {{width: number, height: number}} size in CSS pixels
   * @param {AbortSignal} signal
   * @param {{early?: boolean}} [options] `early`: nobody sees the page yet
   * @returns {Promise<HTMLCanvasElement>}
   */
  draw(number, size, signal, { early = false } = {}) {
    if (this.has(number, size)) return Promise.resolve(this.find(number))
    return new Promise((resolve, reject) => {
      const order = { number, size, signal, early, resolve, reject }
      const cancel = () => {
        this.waiting = this.waiting.filter((one) => one !== order)
        reject(signal.reason)
      }
      if (signal.aborted) return cancel()
      signal.addEventListener('abort', cancel, { once: true })
      this.waiting.push(order)
      this.#next()
    })
  }

  async #next() {
    const ready = this.waiting.filter((order) => !this.running.has(order.number))
    if (this.running.size >= AT_ONCE || !ready.length) return
    const urgency = (order) => Math.abs(order.number - this.current) + (order.early ? 1e6 : 0)
    const order = ready.reduce((best, one) => (urgency(one) < urgency(best) ? one : best))
    const { number, size, signal } = order
    this.waiting = this.waiting.filter((one) => one !== order)
    this.running.add(number)
    try {
      if (!this.has(number, size)) this.#keep(number, await this.source.draw(number, size, signal), widthOf(size))
      order.resolve(this.find(number))
    } catch (error) {
      order.reject(error)
    } finally {
      this.running.delete(number)
      this.#next()
    }
  }

  #keep(number, canvas, width) {
    this.kept.delete(number)
    this.kept.set(number, { canvas, width })
    let pixels = 0
    for (const [other, { canvas: one }] of [...this.kept].reverse()) {
      pixels += one.width * one.height
      if (pixels > KEPT_PIXELS && !one.isConnected) this.kept.delete(other)
    }
  }
}

// A window on another screen needs another drawing.
const widthOf = (size) => `${size.width} ${devicePixelRatio}`
