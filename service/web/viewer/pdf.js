/** PDF files, drawn by pdf.js. Files are read in a worker, in the parts that are needed; a password stays in this page. */

import { at } from '../api.js'
import { pixelRatio } from './geometry.js'
import { PrintedText, pagePicture } from './pictures.js'

const CHUNK = 262_144
// Pages whose shape differs more were drawn for another file, or are read differently by pdf.js.
const MAX_DIFFERENCE = 0.01
const KEPT_TEXTS = 24

let loading

/** Loads pdf.js and starts its worker. */
export function loadPdfJs() {
  loading ??= (async () => {
    const address = import.meta.resolve('pdfjs-dist')
    const library = await import('pdfjs-dist')
    library.GlobalWorkerOptions.workerSrc = new URL('pdf.worker.min.mjs', address).href
    const worker = library.PDFWorker.create({ verbosity: library.VerbosityLevel.ERRORS })
    return { library, worker, address }
  })()
  loading.catch(() => (loading = undefined))
  return loading
}

/** The user did not give the password. */
export class LockedError extends Error {}

/**
 * Opens the file of a paper.
 *
 * @param {{id: string, pages: import('./geometry.js').Page[]}} paper
 * @param {{signal: AbortSignal, askPassword: (wrong: boolean) => Promise<string | null>}} options
 */
export async function openPdf(paper, { signal, askPassword }) {
  const { library, worker, address } = await loadPdfJs()
  signal.throwIfAborted()
  const task = library.getDocument({
    url: at(`/v1/papers/${paper.id}/file`),
    worker,
    verbosity: library.VerbosityLevel.ERRORS,
    cMapUrl: new URL('cmaps/', address).href,
    standardFontDataUrl: new URL('standard_fonts/', address).href,
    wasmUrl: new URL('wasm/', address).href,
    // The policy of the page forbids WebAssembly; pdf.js has the same decoders in JavaScript.
    useWasm: false,
    enableXfa: false,
    disableAutoFetch: true,
    disableStream: true,
    rangeChunkSize: CHUNK,
  })
  const abort = () => task.destroy()
  signal.addEventListener('abort', abort)
  let cancelled = false
  task.onPassword = async (give, reason) => {
    const password = await askPassword(reason === library.PasswordResponses.INCORRECT_PASSWORD)
    if (password === null) {
      cancelled = true
      task.destroy()
    } else {
      give(password)
    }
  }
  try {
    const document = await task.promise
    signal.throwIfAborted()
    return new PdfSource(paper, { task, document, library })
  } catch (error) {
    task.destroy()
    signal.throwIfAborted()
    throw cancelled ? new LockedError('no password was given') : error
  } finally {
    // The open document is kept for the next viewer of the paper.
    signal.removeEventListener('abort', abort)
  }
}

/** The pages of a PDF file. */
class PdfSource {
  constructor(paper, { task, document, library }) {
    this.paper = paper
    this.task = task
    this.document = document
    this.library = library
    this.contents = new Map()
    this.printed = new PrintedText(paper)
  }

  /**
   * Draws a page.
   *
   * @param {number} number
   * @param {{width: number, height: number}} size in CSS pixels
   * @param {AbortSignal} signal
   * @returns {Promise<HTMLCanvasElement>}
   */
  async draw(number, size, signal) {
    const page = await this.#page(number)
    signal.throwIfAborted()
    if (!page) return pagePicture(this.paper, number, size, signal)
    const ratio = pixelRatio(size, devicePixelRatio)
    const viewport = page.getViewport({ scale: (size.width * ratio) / page.getViewport({ scale: 1 }).width })
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(size.width * ratio))
    canvas.height = Math.max(1, Math.round(size.height * ratio))
    // Whole pixels stretch the page by less than one of them.
    const transform = [canvas.width / viewport.width, 0, 0, canvas.height / viewport.height, 0, 0]
    const task = page.render({ canvas, viewport, transform })
    const cancel = () => task.cancel()
    signal.addEventListener('abort', cancel)
    try {
      await task.promise
    } finally {
      signal.removeEventListener('abort', cancel)
      page.cleanup()
    }
    return canvas
  }

  /** The text of a page; of a page that is only a picture, what was read from it. */
  async text(number) {
    const content = await this.#content(number)
    return content ? content.items.map((item) => ({ text: item.str, eol: item.hasEOL })) : this.printed.text(number)
  }

  /**
   * Puts the text of a page over it, so that it can be selected, and returns its text nodes: one for each part of
   * `text`, null for an empty one. The element needs the page's width in `--page-width`.
   */
  async layer(number, container, signal) {
    const content = await this.#content(number)
    signal.throwIfAborted()
    if (!content) return this.printed.layer(number, container, signal)
    const page = await this.document.getPage(number)
    const viewport = page.getViewport({ scale: 1 })
    container.style.setProperty('--total-scale-factor', `calc(var(--page-width) / ${viewport.width / page.userUnit})`)
    const layer = new this.library.TextLayer({ textContentSource: content, container, viewport })
    await layer.render()
    signal.throwIfAborted()
    const end = document.createElement('div')
    end.className = 'end-of-text'
    container.append(end)
    return layer.textDivs.map((span) => span.firstChild)
  }

  close() {
    this.task.destroy()
  }

  /** The page, or null if its shape is not that of the page that was read. */
  async #page(number) {
    const { width, height } = this.paper.pages[number - 1]
    if (number > this.document.numPages) return null
    const page = await this.document.getPage(number)
    const shown = page.getViewport({ scale: 1 })
    const difference = Math.abs((shown.width / shown.height) * (height / width) - 1)
    return difference > MAX_DIFFERENCE ? null : page
  }

  /** The text content, or null if the page has none. */
  async #content(number) {
    if (!this.contents.has(number)) {
      const page = await this.#page(number)
      const found = await page?.getTextContent()
      const content = found?.items.some((item) => item.str.trim()) ? found : null
      if (this.contents.size >= KEPT_TEXTS) this.contents.delete(this.contents.keys().next().value)
      this.contents.set(number, content)
    }
    return this.contents.get(number)
  }
}
