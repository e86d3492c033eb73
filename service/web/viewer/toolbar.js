/** The bars above a document: pages, zoom, search, evidence. */

import { Icon, Menu, html, t, useLayoutEffect, useRef, useState } from '../ui/index.js'
import { nextZoom } from './geometry.js'

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3]

/** A button with an icon and its name as a tooltip. */
export function Tool({ icon, label, keys, pressed, disabled, onClick, class: name = '' }) {
  return html`<button
    type="button"
    class="icon-button ${name}"
    aria-label=${label}
    aria-pressed=${pressed}
    aria-keyshortcuts=${keys}
    title=${keys ? `${label} (${keys})` : label}
    disabled=${disabled}
    onClick=${onClick}
  >
    <${Icon} name=${icon} />
  </button>`
}

/** Where the reader is; another number goes there. @param {{page: number, pages: number, onGo: (page: number) => void}} props */
export function PageField({ page, pages, onGo, handle }) {
  const input = useRef()
  const [typed, setTyped] = useState(null)
  handle.current = () => input.current.select()
  const commit = () => {
    const number = Math.round(Number(typed))
    if (typed && number >= 1) onGo(Math.min(number, pages))
    setTyped(null)
  }
  return html`<form
    class="page-field"
    onSubmit=${(event) => {
      event.preventDefault()
      commit()
    }}
  >
    <input
      ref=${input}
      class="input"
      inputmode="numeric"
      size=${String(pages).length}
      style=${{ width: `${String(pages).length + 2.2}ch` }}
      aria-label=${t('viewer.pageNumber', { pages })}
      aria-keyshortcuts="g"
      value=${typed ?? page}
      onInput=${(event) => setTyped(event.currentTarget.value)}
      onFocus=${(event) => event.currentTarget.select()}
      onBlur=${commit}
    />
    <span aria-hidden="true">/ ${pages}</span>
  </form>`
}

/** @param {{factor: number, page: number, onZoom: (zoom: import('./pages.js').Zoom) => void}} props */
export function ZoomTools({ factor, page, onZoom }) {
  const percent = (value) => t('viewer.percent', { percent: Math.round(value * 100) })
  const items = [
    { label: t('viewer.fitWidth'), onSelect: () => onZoom({ fit: 'width', page }) },
    { label: t('viewer.fitPage'), onSelect: () => onZoom({ fit: 'page', page }) },
    ...ZOOMS.map((value) => ({ label: percent(value), onSelect: () => onZoom({ value }) })),
  ]
  return html`<div class="zoom-tools" role="group" aria-label=${t('viewer.zoom')}>
    <${Tool} icon="minus" label=${t('viewer.zoomOut')} keys="-" onClick=${() => onZoom({ value: nextZoom(factor, -1) })} />
    <${Menu} label=${t('viewer.zoom')} icon="chevronDown" text=${percent(factor)} items=${items} align="start" class="zoom-menu small" />
    <${Tool} icon="plus" label=${t('viewer.zoomIn')} keys="+" onClick=${() => onZoom({ value: nextZoom(factor, 1) })} />
  </div>`
}

/** @param {{at: number, stops: object[], onStep: (by: number) => void}} props `at` is -1 before the first step */
export function EvidenceTools({ at, stops, onStep }) {
  return html`<div class="evidence-tools" role="group" aria-label=${t('viewer.evidence')}>
    <${Tool} icon="chevronUp" label=${t('viewer.previousEvidence')} keys="p" onClick=${() => onStep(-1)} />
    <span class="evidence-count" role="status">
      ${at < 0 ? t('viewer.manyEvidence', { count: stops.length }) : t('viewer.ofMany', { number: at + 1, total: stops.length })}
    </span>
    <${Tool} icon="chevronDown" label=${t('viewer.nextEvidence')} keys="n" onClick=${() => onStep(1)} />
  </div>`
}

/**
 * @param {{value: string, onInput: (value: string) => void, number: number, total: number, done: boolean, hasText: boolean, searching: boolean,
 *   onStep: (by: number) => void, onClose: () => void}} props
 */
export function SearchBar({ value, onInput, number, total, done, hasText, searching, onStep, onClose, handle }) {
  const input = useRef()
  handle.current = () => input.current.select()
  useLayoutEffect(() => input.current.select(), [])
  const onKeyDown = (event) => {
    if (event.key === 'Enter') {
      event.preventDefault()
      onStep(event.shiftKey ? -1 : 1)
    } else if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      onClose()
    }
  }
  const values = { number, total }
  const status = !searching
    ? ''
    : total
      ? t(done ? 'viewer.ofMany' : 'viewer.ofManyYet', values)
      : t(!done ? 'viewer.searching' : hasText ? 'viewer.noHits' : 'viewer.noText')
  return html`<div class="search-bar" role="search" aria-label=${t('viewer.search')} onKeyDown=${onKeyDown}>
    <${Icon} name="search" />
    <input
      ref=${input}
      class="input"
      type="text"
      dir="auto"
      spellcheck="false"
      autocomplete="off"
      enterkeyhint="search"
      placeholder=${t('viewer.searchHint')}
      aria-label=${t('viewer.search')}
      value=${value}
      onInput=${(event) => onInput(event.currentTarget.value)}
    />
    <span class="search-status ${searching && done && !total ? 'none' : ''}" role="status">${status}</span>
    <${Tool} icon="chevronUp" label=${t('viewer.previousHit')} keys="Shift+Enter" disabled=${!total} onClick=${() => onStep(-1)} />
    <${Tool} icon="chevronDown" label=${t('viewer.nextHit')} keys="Enter" disabled=${!total} onClick=${() => onStep(1)} />
    <${Tool} icon="close" label=${t('viewer.closeSearch')} keys="Escape" onClick=${onClose} />
  </div>`
}
