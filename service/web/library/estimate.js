/** What adding files would cost, shown before they are added where a model is set. */

import { upload } from '../api.js'
import { Dialog, Spinner, errorTitle, formatNumber, html, t, useEffect, useState } from '../ui/index.js'

/**
 * The files are estimated one after another; they can be added before that is done.
 *
 * @param {{files: File[], onAdd: () => void, onClose: () => void}} props
 */
export function EstimateDialog({ files, onAdd, onClose }) {
  const [estimates, setEstimates] = useState([])
  useEffect(() => {
    const abort = new AbortController()
    estimateAll(files, abort.signal, (found) => setEstimates((before) => [...before, found]))
    return () => abort.abort()
  }, [])
  const known = estimates.filter((one) => !one.error)
  const total = known.reduce((sum, one) => plus(sum, one.usage), NOTHING)
  const isDone = estimates.length === files.length
  const footer = html`
    <button type="button" class="button" onClick=${onClose}>${t('common.cancel')}</button>
    <button type="button" class="button primary" onClick=${onAdd}>${t('estimate.add', { count: files.length })}</button>
  `
  return html`<${Dialog} title=${t('estimate.title', { count: files.length })} onClose=${onClose} footer=${footer}>
    <p class="estimate-intro">${t('estimate.intro')}</p>
    <ul class="estimates">
      ${files.map(
        (file, index) =>
          html`<li>
            <span class="upload-name" dir="auto">${file.name}</span>
            <span class="estimate-value">${estimateText(estimates[index], index === estimates.length)}</span>
          </li>`,
      )}
    </ul>
    <p class="estimate-total" aria-live="polite">
      ${isDone ? html`<strong>${t('estimate.total', { usage: usageText(total) })}</strong>` : html`<${Spinner} label=${t('estimate.running')} />`}
    </p>
  <//>`
}

const NOTHING = { calls: 0, prompt_tokens: 0, completion_tokens: 0, cost: 0 }

const plus = (a, b) => Object.fromEntries(Object.keys(NOTHING).map((key) => [key, a[key] + b[key]]))

async function estimateAll(files, signal, onEstimate) {
  for (const file of files) {
    const form = new FormData()
    form.append('file', file, file.name)
    const found = await upload('/v1/papers/estimate', form, { signal }).then(
      (usage) => ({ usage }),
      (error) => ({ error }),
    )
    if (signal.aborted) return
    onEstimate(found)
  }
}

function estimateText(estimate, isNext) {
  if (!estimate) return isNext ? t('estimate.reading') : ''
  return estimate.error ? estimate.error.detail || errorTitle(estimate.error) : usageText(estimate.usage)
}

/** What a question or a table would cost: the usages by role, at least and at most. @returns {string} */
export function boundsText({ least, most }) {
  const [low, high] = [least, most].map((roles) => usageText(Object.values(roles).reduce(plus, NOTHING)))
  return low === high ? low : t('estimate.bounds', { least: low, most: high })
}

/** "12 calls, 34,000 tokens, cost 0.02"; the cost has the currency of the price settings, which is not known. */
export function usageText({ calls, prompt_tokens, completion_tokens, cost }) {
  if (!calls) return t('estimate.nothing')
  const tokens = prompt_tokens + completion_tokens
  const parts = [t('uploads.calls', { count: calls }), t('estimate.tokens', { count: tokens })]
  if (cost) parts.push(t('estimate.cost', { cost: formatNumber(cost, { maximumSignificantDigits: 3 }) }))
  return parts.join(' · ')
}
