/**
 * The geometry of pages below each other: sizes, positions, zoom and boxes. It touches neither the document nor a library.
 *
 * Boxes are `[x0, y0, x1, y1]` in points from the top left corner of the page as a reader sees it, as the API gives them.
 * A scale is the number of CSS pixels per point; a zoom of 1 is the printed size.
 *
 * @typedef {{number: number, width: number, height: number}} Page  in points
 * @typedef {[number, number, number, number]} Box
 * @typedef {{keys: string[], box: Box}} Mark  a cited box on a page, with the keys of the evidence that cites it
 */

/** CSS pixels per point at a zoom of 1. */
export const PIXELS_PER_POINT = 96 / 72

const ZOOMS = [0.25, 0.33, 0.5, 0.67, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5]
// Firefox draws nothing below 17.9 million pixels of scroll height, Chromium below 33.5 million.
const MAX_HEIGHT = 16_000_000
// Pixels of a canvas; beyond that, browsers draw nothing or run out of memory.
const MAX_PIXELS = 16_777_216

/** The margin around pages, by the width of the window. */
const marginOf = (windowWidth) => (windowWidth < 560 ? 6 : 16)

/** The positions of pages below each other, in CSS pixels. Whole pixels keep the edges of pages sharp. */
export class Layout {
  /**
   * @param {Page[]} pages
   * @param {number} scale
   * @param {number} windowWidth
   */
  constructor(pages, scale, windowWidth) {
    this.pages = pages
    this.windowWidth = windowWidth
    this.margin = marginOf(windowWidth)
    this.scale = scale
    this.tops = new Float64Array(pages.length)
    this.width = 0
    let top = this.margin
    pages.forEach((page, index) => {
      const { width, height } = this.size(index)
      this.tops[index] = top
      this.width = Math.max(this.width, width)
      top += height + this.margin
    })
    this.width += 2 * this.margin
    this.height = top
  }

  /** The size of the page at an index. */
  size(index) {
    const { width, height } = this.pages[index]
    return { width: Math.max(1, Math.round(width * this.scale)), height: Math.max(1, Math.round(height * this.scale)) }
  }

  /** The index of the page that covers a height, or of the one above the gap there. */
  at(y) {
    let [low, high] = [0, this.pages.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.tops[middle] <= y) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The indexes of the first and the last page that show between two heights. */
  between(top, bottom) {
    return { first: this.at(top), last: this.at(bottom) }
  }

  /** The index of the page of which most shows in a window of a height. */
  current(top, height) {
    const { first, last } = this.between(top, top + height)
    let [best, most] = [first, -1]
    for (let index = first; index <= last; index++) {
      const bottom = this.tops[index] + this.size(index).height
      const shown = Math.min(bottom, top + height) - Math.max(this.tops[index], top)
      if (shown > most + 1) [best, most] = [index, shown]
    }
    return best
  }

  /** The left edge of the page at an index; pages are centred. */
  left(index) {
    return Math.max(this.margin, Math.floor((Math.max(this.windowWidth, this.width) - this.size(index).width) / 2))
  }

  /** The rectangle of a box, from the top left corner of all pages. */
  rectangle(index, box) {
    const { width, height } = this.pages[index]
    const size = this.size(index)
    const x = this.left(index)
    return {
      left: x + (box[0] / width) * size.width,
      top: this.tops[index] + (box[1] / height) * size.height,
      right: x + (box[2] / width) * size.width,
      bottom: this.tops[index] + (box[3] / height) * size.height,
    }
  }

  /** The page at a position and the point on it, as shares of its width and height. */
  locate(x, y) {
    const index = this.at(y)
    const { width, height } = this.size(index)
    return { index, x: (x - this.left(index)) / width, y: (y - this.tops[index]) / height }
  }

  /** The position of what `locate` returned, also for a layout at another scale. */
  position({ index, x, y }) {
    const { width, height } = this.size(index)
    return { x: this.left(index) + x * width, y: this.tops[index] + y * height }
  }
}

/** The scroll position that shows a rectangle in a window: a little below the top, and centred if it is out of sight. */
export function reveal(rectangle, { left, top, width, height }) {
  const margin = Math.min(96, height / 6)
  const tall = rectangle.bottom - rectangle.top > height - 2 * margin
  const hidden = rectangle.top < top + margin || rectangle.bottom > top + height - margin
  const away = rectangle.left < left || rectangle.right > left + width
  const middle = (rectangle.left + rectangle.right - width) / 2
  return {
    left: away ? Math.max(0, rectangle.right - rectangle.left > width ? rectangle.left - margin : middle) : left,
    top: hidden || tall ? Math.max(0, rectangle.top - (tall ? 8 : Math.max(margin, height / 4))) : top,
  }
}

/** The position and size of a box as percentages of its page, for `style`: right at every zoom. */
export function percentages([x0, y0, x1, y1], { width, height }) {
  const left = Math.max(0, Math.min(x0, width))
  const top = Math.max(0, Math.min(y0, height))
  return {
    left: `${(100 * left) / width}%`,
    top: `${(100 * top) / height}%`,
    width: `${(100 * Math.max(0, Math.min(x1, width) - left)) / width}%`,
    height: `${(100 * Math.max(0, Math.min(y1, height) - top)) / height}%`,
  }
}

/** The keys of the marks at a point of a page (in points), those with the smallest box first, each once. */
export function keysAt(marks, x, y, { slack = 1.5 } = {}) {
  const hit = marks.filter(
    ({ box: [x0, y0, x1, y1] }) => x >= x0 - slack && x <= x1 + slack && y >= y0 - slack && y <= y1 + slack,
  )
  hit.sort((a, b) => area(a.box) - area(b.box))
  return [...new Set(hit.flatMap((mark) => mark.keys))]
}

const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0)

/** The smallest box around boxes. */
export function union(boxes) {
  return boxes.reduce((a, b) => [
    Math.min(a[0], b[0]),
    Math.min(a[1], b[1]),
    Math.max(a[2], b[2]),
    Math.max(a[3], b[3]),
  ])
}

/** Whether the middle of a box lies in another one. */
export function isInside([x0, y0, x1, y1], outer, slack = 1) {
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2]
  return x >= outer[0] - slack && x <= outer[2] + slack && y >= outer[1] - slack && y <= outer[3] + slack
}

/** The largest zoom: browsers limit how far a document scrolls. */
export function maxZoom(pages) {
  const points = pages.reduce((sum, page) => sum + page.height, 0)
  return Math.max(ZOOMS[0], Math.min(ZOOMS.at(-1), MAX_HEIGHT / (points * PIXELS_PER_POINT)))
}

/** The next larger (`step` = 1) or smaller (`step` = -1) zoom of the list. */
export function nextZoom(zoom, step) {
  const found =
    step > 0 ? ZOOMS.find((one) => one > zoom * 1.01) : ZOOMS.findLast((one) => one < zoom * 0.99)
  return found ?? (step > 0 ? ZOOMS.at(-1) : ZOOMS[0])
}

/** A zoom within the bounds. */
export function clampZoom(zoom, pages) {
  return Math.max(ZOOMS[0], Math.min(zoom, maxZoom(pages)))
}

/** The page with the width that most pages have. */
export function typicalPage(pages) {
  const counts = new Map()
  for (const { width } of pages) counts.set(Math.round(width), (counts.get(Math.round(width)) ?? 0) + 1)
  const [width] = [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))
  return pages.find((page) => Math.round(page.width) === width)
}

/** The zoom at which a page fills a window of a width. */
export function fitWidth(page, windowWidth, pages) {
  return clampZoom((windowWidth - 2 * marginOf(windowWidth)) / (page.width * PIXELS_PER_POINT), pages)
}

/** The zoom at which a page fits into a window. */
export function fitPage(page, windowWidth, windowHeight, pages) {
  const high = (windowHeight - 2 * marginOf(windowWidth)) / (page.height * PIXELS_PER_POINT)
  return clampZoom(Math.min(fitWidth(page, windowWidth, pages), high), pages)
}

/** Device pixels per CSS pixel for a canvas of a size, lowered where it would have too many of them. */
export function pixelRatio({ width, height }, ratio) {
  return Math.min(ratio, Math.sqrt(MAX_PIXELS / (width * height)))
}
