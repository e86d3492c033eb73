/** Icons, drawn on a grid of 20 with strokes in the colour of the text. */

import { html } from './preact.js'

const PATHS = {
  ask: 'M3.5 4.5h13v9h-7l-3.5 3v-3h-2.5z',
  library: 'M4 3.5h3v13H4zM8.5 3.5h3v13h-3zM13 4.2l2.8-.7 2.7 12.3-2.8.7z',
  graph: 'M5 7.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM15.5 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7 16.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7 5.9l6.6 1.7M5.3 7.5l1.3 5M8.6 13.3l5.4-3.9',
  batch: 'M4 5h12M4 10h12M4 15h7M14 15l1.5 1.5L18 13.5',
  settings: 'M3.5 6h6M13.5 6h3M11.5 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM3.5 14h3M10.5 14h6M8.5 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  plus: 'M10 4v12M4 10h12',
  minus: 'M4 10h12',
  chart: 'M3.5 16.5h13M5.5 14V9M10 14V4.5M14.5 14V7',
  table: 'M3.5 4.5h13v11h-13zM3.5 8.5h13M3.5 12h13M8 8.5v7',
  close: 'm5 5 10 10M15 5 5 15',
  check: 'm4 10.5 4 4 8-9',
  chevronDown: 'm5.5 8 4.5 4.5L14.5 8',
  chevronUp: 'M5.5 12.5 10 8l4.5 4.5',
  chevronLeft: 'M12.5 5 7.5 10l5 5',
  chevronRight: 'm7.5 5 5 5-5 5',
  menu: 'M3.5 6h13M3.5 10h13M3.5 14h13',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  send: 'M10 16.5V4M5 8.5 10 3.5l5 5',
  stop: 'M6 6h8v8H6z',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13.2 13.2l3.6 3.6',
  filter: 'M3.5 5h13M6 10h8M8.5 15h3',
  copy: 'M7.5 7.5h8v9h-8zM5 12.5H4v-9h8v1',
  download: 'M10 3.5v9M6 9l4 4 4-4M4 16.5h12',
  upload: 'M10 13V4M6 7.5l4-4 4 4M4 16.5h12',
  refresh: 'M16 6.5A7 7 0 1 0 17 10M16.5 3v4h-4',
  warning: 'M10 3.5 17.5 16h-15zM10 8v4M10 14.2v.01',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9.5v4M10 6.7v.01',
  trash: 'M4 5.5h12M8 5.5v-2h4v2M5.5 5.5l.7 11h7.6l.7-11M8.5 8.5v5M11.5 8.5v5',
  edit: 'M4 16v-3l8.5-8.5 3 3L7 16zM11 6l3 3',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M15.3 4.7l-1 1M5.7 14.3l-1 1',
  moon: 'M16 12A6.5 6.5 0 0 1 8 4a6.5 6.5 0 1 0 8 8z',
  system: 'M3.5 4.5h13v9h-13zM7.5 16.5h5M10 13.5v3',
  external: 'M11.5 4h4.5v4.5M16 4 9.5 10.5M8 5H4v11h11v-4',
  paper: 'M5.5 2.5h6l3.5 3.5v11.5h-9.5zM11.5 2.5V6H15M8 10h4.5M8 13h4.5',
  image: 'M3.5 4.5h13v11h-13zM3.5 13l3.5-3.5 3 3 2.5-2.5 4 4M12.5 8v.01',
  calculator: 'M5 2.5h10v15H5zM7.5 5.5h5v2h-5zM7.5 10.5v.01M10 10.5v.01M12.5 10.5v.01M7.5 14v.01M10 14v.01M12.5 14v.01',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.5 2',
  quote: 'M4 6.5h4.5v4c0 2-1 3-3 3.5M11.5 6.5H16v4c0 2-1 3-3 3.5',
  plug: 'M7 3v4M13 3v4M5 7h10v2.5a5 5 0 0 1-10 0zM10 14.5v3',
  key: 'M7 12.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10.5 9H17v3M14 9v2',
  sidebar: 'M3.5 4h13v12h-13zM8 4v12',
  undo: 'M7.5 4 4 7.5 7.5 11M4 7.5h7.5a4 4 0 0 1 0 8H8',
  expand: 'M4 8V4h4M16 8V4h-4M4 12v4h4M16 12v4h-4',
  play: 'M6.5 4.5v11l9-5.5z',
}

/**
 * An icon. It has no name: the control or text beside it has.
 *
 * @param {{name: keyof typeof PATHS, size?: number}} props
 */
export function Icon({ name, size = 18 }) {
  return html`<svg
    class="icon"
    width=${size}
    height=${size}
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    stroke-width=${name === 'more' ? 2.4 : 1.5}
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d=${PATHS[name]} />
  </svg>`
}
