/** Formulas, drawn by KaTeX, which is loaded with the first one. */

import { html, useEffect, useRef, useState } from './preact.js'

const FOLDER = new URL('../vendor/katex-0.19.1', import.meta.url).href
let loading

function load() {
  loading ??= new Promise((resolve, reject) => {
    const sheet = document.createElement('link')
    sheet.rel = 'stylesheet'
    sheet.href = `${FOLDER}/katex.min.css`
    sheet.onload = () => import(`${FOLDER}/katex.mjs`).then((module) => resolve(module.default), reject)
    sheet.onerror = reject
    document.head.append(sheet)
  })
  return loading
}

/**
 * A formula. What KaTeX does not understand stays as it was written.
 *
 * @param {{latex: string, text?: string, display?: boolean}} props `text` is what stands for it until then
 */
export function Formula({ latex, text = latex, display = false }) {
  const element = useRef()
  const [drawn, setDrawn] = useState(false)
  useEffect(() => {
    let current = true
    setDrawn(false)
    load()
      .then((katex) => {
        if (!current) return
        const target = document.createElement('span')
        katex.render(latex, target, { displayMode: display, throwOnError: true, trust: false, maxExpand: 200, maxSize: 20 })
        element.current.replaceChildren(target)
        setDrawn(true)
      })
      .catch(() => {})
    return () => (current = false)
  }, [latex, display])
  return html`<span class="formula ${display ? 'display' : ''}">
    <span ref=${element}></span>${!drawn && html`<code dir="ltr">${text}</code>`}
  </span>`
}
