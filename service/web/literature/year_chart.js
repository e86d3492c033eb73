/** Values by the years of their papers, as points that open their cells. */

import { formatNumber, html } from '../ui/index.js'

// In units of the drawing.
const [WIDTH, HEIGHT] = [640, 220]
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 624, 14, 190]
const RADIUS = 5
// A pointer needs a larger target than the dot.
const TARGET = 12
const MAX_TICKS = 6

/**
 * Nothing is drawn where fewer than two years are known.
 *
 * @typedef {{year: number, value: number, label: string, href: string}} Point
 * @param {{label: string, points: Point[]}} props
 */
export function YearChart({ label, points }) {
  if (new Set(points.map((one) => one.year)).size < 2) return null
  const years = scale(points.map((one) => one.year), [LEFT + TARGET, RIGHT - TARGET], 1)
  const values = scale(points.map((one) => one.value), [BOTTOM - TARGET, TOP + TARGET])
  const ordered = points.toSorted((a, b) => a.year - b.year || b.value - a.value)
  return html`<figure class="year-chart">
    <figcaption class="visually-hidden">${label}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label=${label}>
      <g class="year-chart-axes" aria-hidden="true">
        ${values.ticks.map((tick) => html`<path d="M${LEFT} ${values.at(tick)}H${RIGHT}" /><text x=${LEFT - 8} y=${values.at(tick) + 4} text-anchor="end">${formatNumber(tick)}</text>`)}
        ${years.ticks.map((tick) => html`<text x=${years.at(tick)} y=${HEIGHT - 8} text-anchor="middle">${tick}</text>`)}
      </g>
      ${ordered.map(
        (one) =>
          html`<a href=${one.href} aria-label=${one.label}>
            <title>${one.label}</title>
            <circle class="year-chart-target" cx=${years.at(one.year)} cy=${values.at(one.value)} r=${TARGET} />
            <circle cx=${years.at(one.year)} cy=${values.at(one.value)} r=${RADIUS} />
          </a>`,
      )}
    </svg>
  </figure>`
}

/**
 * A linear scale with round ticks.
 *
 * @param {number[]} numbers
 * @param {[number, number]} range of the drawing
 * @param {number} [least] the smallest distance of ticks
 */
function scale(numbers, [start, end], least = 0) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)]
  const span = high - low || 1
  const power = 10 ** Math.floor(Math.log10(span / MAX_TICKS))
  const step = Math.max(least, [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= MAX_TICKS))
  const first = Math.ceil(low / step - 1e-9)
  const count = Math.floor(high / step + 1e-9) - first + 1
  return {
    at: (number) => start + ((number - (high > low ? low : low - 0.5)) / span) * (end - start),
    ticks: Array.from({ length: count }, (_, index) => Number(((first + index) * step).toPrecision(12))),
  }
}
