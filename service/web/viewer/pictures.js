/**
 * Pages as pictures that the service draws, with the text that was read from them: of image files, of scanned pages, and
 * where the browser can't draw a page itself.
 */

import { get } from '../api.js'
import { percentages } from './geometry.js'

const DPI = { least: 36, most: 300, step: 24 }
const LINE_HEIGHT = 1.2
// The mean width of a letter, in parts of the font's size.
const LETTER_WIDTH = 0.5

/** The pages of a paper as pictures. Throws if the service can't draw the first one. */
export async function openPictures(paper, { signal }) {
  await get(`/v1/papers/${paper.id}/pages/${paper.pages[0].number}.png?dpi=${DPI.least}`, { raw: true, signal })
  return new PictureSource(paper)
}

/** See `PdfSource`. */
class PictureSource {
  constructor(paper) {
    this.paper = paper
    this.printed = new PrintedText(paper)
  }

  draw(number, size, signal) {
    return pagePicture(this.paper, number, size, signal)
  }

  text(number) {
    return this.printed.text(number)
  }

  layer(number, container, signal) {
    return this.printed.layer(number, container, signal)
  }

  close() {}
}

/**
 * A page as the service draws it.
 *
 * @param {{id: string, pages: import('./geometry.js').Page[]}} paper
 * @param {number} number
 * @param {{width: number, height: number}} size in CSS pixels
 * @param {AbortSignal} signal
 */
export async function pagePicture(paper, number, size, signal) {
  const exact = (72 * size.width * devicePixelRatio) / paper.pages[number - 1].width
  // Few steps, so that the browser's cache is of use while the zoom changes.
  const dpi = Math.max(DPI.least, Math.min(DPI.most, DPI.step * Math.ceil(exact / DPI.step)))
  const response = await get(`/v1/papers/${paper.id}/pages/${number}.png?dpi=${dpi}`, { raw: true, signal })
  const picture = await createImageBitmap(await response.blob())
  const canvas = document.createElement('canvas')
  canvas.width = picture.width
  canvas.height = picture.height
  canvas.getContext('2d').drawImage(picture, 0, 0)
  picture.close()
  return canvas
}

/** What was read from pages, line by line where the lines are known. */
export class PrintedText {
  constructor(paper) {
    this.paper = paper
    this.pages = new Map()
  }

  /** @returns {Promise<(import('./search.js').Part & {box: number[]})[]>} */
  text(number) {
    if (!this.pages.has(number)) {
      const found = get(`/v1/papers/${this.paper.id}/elements?page=${number}&limit=1000`).then(({ elements }) =>
        elements.flatMap((element) => partsOf(element, number)),
      )
      found.catch(() => this.pages.delete(number))
      this.pages.set(number, found)
    }
    return this.pages.get(number)
  }

  async layer(number, container, signal) {
    const page = this.paper.pages[number - 1]
    const parts = await this.text(number)
    signal.throwIfAborted()
    const context = document.createElement('canvas').getContext('2d')
    context.font = '100px sans-serif'
    container.classList.add('printed-lines')
    return parts.map(({ text, box, wraps }) => {
      const span = document.createElement('span')
      const [width, height] = [box[2] - box[0], box[3] - box[1]]
      const size = wraps ? Math.sqrt((width * height) / (text.length * LETTER_WIDTH * LINE_HEIGHT)) : height / LINE_HEIGHT
      Object.assign(span.style, percentages(box, page))
      span.style.setProperty('--font-height', `${size / page.width}`)
      if (wraps) span.className = 'wraps'
      else span.style.setProperty('--scale-x', `${width / ((context.measureText(text).width / 100) * size || 1)}`)
      span.dir = 'auto'
      span.textContent = text
      container.append(span)
      return span.firstChild
    })
  }
}

function partsOf(element, number) {
  if (element.cells) {
    return element.cells.filter((cell) => cell.place.page === number).map((cell) => part(cell.text, cell.place.box))
  }
  const lines = element.lines ?? []
  if (!lines.length) return element.place.page === number ? [part(element.text, element.place.box)] : []
  return lines.flatMap(([start, page, box], index) =>
    page === number ? [part(element.text.slice(start, lines[index + 1]?.[0]).trimEnd(), box)] : [],
  )
}

function part(text, box) {
  const height = box[3] - box[1]
  return { text, box, eol: true, wraps: (box[2] - box[0]) / height < (text.length * LETTER_WIDTH) / 2 }
}
