/** Downloads and the clipboard. */

/** Saves a blob, or text, as a file. @param {string} name @param {Blob | string} content @param {string} [type] */
export function download(name, content, type = 'text/plain;charset=utf-8') {
  const blob = content instanceof Blob ? content : new Blob([content], { type })
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Copies text; works without the clipboard API, too, which plain HTTP lacks. Throws if the browser refuses. */
export async function copyText(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text)
    return
  }
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  const focused = document.activeElement
  const parent = document.querySelector('dialog:modal') ?? document.body
  parent.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  focused?.focus()
  if (!copied) throw new Error('the browser refused')
}

/** A name for a file from a title: letters, digits and hyphens. @param {string} title */
export function fileName(title) {
  const name = title.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[^\p{L}\p{N}]+/gu, '-')
  return name.replace(/^-+|-+$/g, '').slice(0, 60).toLowerCase() || 'paperscope'
}
