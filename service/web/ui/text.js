/** The page's texts. A translation is one more file like texts/en.js. */

import { en } from '../texts/en.js'

const texts = en
export const language = 'en'
const plural = new Intl.PluralRules(language)

/**
 * The text with this key (`ask.send`), with `{name}` replaced by its value. A text `{one, other}` is chosen by `count`.
 *
 * @param {string} key
 * @param {Record<string, string | number>} [values] numbers are written with thousands separators
 * @returns {string}
 */
export function t(key, values = {}) {
  let text = key.split('.').reduce((found, part) => found?.[part], texts)
  if (text && typeof text === 'object') text = text[plural.select(Number(values.count))] ?? text.other
  if (typeof text !== 'string') throw new Error(`no text ${key}`)
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name]
    return typeof value === 'number' ? formatNumber(value) : String(value ?? '')
  })
}

/** @param {number} value @param {Intl.NumberFormatOptions} [options] */
export function formatNumber(value, options) {
  return new Intl.NumberFormat(language, options).format(value)
}

/** A duration: "0.4 s", "12 s", "3 min 20 s". @param {number} seconds */
export function formatSeconds(seconds) {
  if (seconds >= 60) {
    return t('units.minutes', { minutes: Math.floor(seconds / 60), seconds: Math.round(seconds % 60) })
  }
  return t('units.seconds', { seconds: formatNumber(seconds, { maximumFractionDigits: seconds < 10 ? 1 : 0 }) })
}

/** A size in bytes: "1.2 MB". @param {number} bytes */
export function formatBytes(bytes) {
  const unit = bytes < 1e3 ? 'byte' : bytes < 1e6 ? 'kilobyte' : bytes < 1e9 ? 'megabyte' : 'gigabyte'
  const divisor = { byte: 1, kilobyte: 1e3, megabyte: 1e6, gigabyte: 1e9 }[unit]
  return formatNumber(bytes / divisor, { style: 'unit', unit, maximumFractionDigits: bytes < 1e6 ? 0 : 1 })
}

/** "today 14:05", "Monday", "3 May 2026". @param {string | Date} when */
export function formatDate(when) {
  const date = new Date(when)
  const days = Math.floor((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 864e5)
  if (days <= 0) return new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' }).format(date)
  if (days < 7) return new Intl.DateTimeFormat(language, { weekday: 'long' }).format(date)
  return new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' }).format(date)
}
