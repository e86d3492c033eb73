/** The settings in force, the health of the service, and what its models were used for. */

import { at, get } from '../api.js'
import { ErrorState, Icon, Spinner, formatNumber, html, t, useAsync } from '../ui/index.js'

const ROLES = ['answer', 'vision', 'extract', 'embed']

export function Settings() {
  const settings = useAsync((signal) => get('/v1/settings', { signal }), [])
  const usage = useAsync((signal) => get('/v1/usage', { signal }), [])
  const health = useAsync((signal) => get('/readyz', { signal }), [])
  return html`<div class="page settings">
    <header class="page-head">
      <h1>${t('settings.title')}</h1>
      <${Health} health=${health} />
    </header>
    <p class="settings-intro">${t('settings.intro')} <a href=${at('/docs')}>${t('settings.api')}</a></p>
    ${settings.error
      ? html`<${ErrorState} error=${settings.error} onRetry=${settings.reload} />`
      : settings.data
        ? html`<${Models} models=${settings.data.models} /><${Usage} usage=${usage} /><${InForce} settings=${settings.data} />`
        : html`<div class="view-state"><${Spinner} /></div>`}
  </div>`
}

function Health({ health }) {
  if (health.loading) return html`<${Spinner} label=${t('settings.checking')} />`
  return html`<p role="status">
    <span class="health ${health.error ? 'bad' : ''}">${health.error ? health.error.detail : t('settings.healthy')}</span>
    <button type="button" class="icon-button small" aria-label=${t('settings.check')} title=${t('settings.check')} onClick=${health.reload}><${Icon} name="refresh" size="16" /></button>
  </p>`
}

function Models({ models }) {
  return html`<section aria-labelledby="settings-models">
    <h2 id="settings-models">${t('settings.models')}</h2>
    ${!models.answer && html`<p class="note"><${Icon} name="info" /><span>${t('settings.noModel')}</span></p>`}
    <dl class="setting-cards">
      ${ROLES.map(
        (role) =>
          html`<div class="setting-card">
            <dt class="setting-card-label">${t(`settings.roles.${role}`)}</dt>
            <dd class="setting-card-value ${models[role] ? '' : 'none'}">${models[role] ? models[role].model || t('settings.builtin') : t('settings.none')}</dd>
            <dd class="setting-card-text">${models[role] ? hostText(models[role]) : t(`settings.without.${role}`)}</dd>
          </div>`,
      )}
    </dl>
  </section>`
}

function hostText({ host, price_prompt, price_completion }) {
  const place = host ? t('settings.host', { host }) : t('settings.local')
  if (!price_prompt && !price_completion) return place
  return `${place} · ${t('settings.prices', { prompt: amount(price_prompt), completion: amount(price_completion) })}`
}

const amount = (value) => formatNumber(value, { maximumSignificantDigits: 4 })

function Usage({ usage }) {
  const title = html`<h2 id="settings-usage">${t('settings.usage')}</h2>`
  if (usage.error) return html`<section aria-labelledby="settings-usage">${title}<${ErrorState} error=${usage.error} onRetry=${usage.reload} /></section>`
  if (!usage.data) return html`<section aria-labelledby="settings-usage">${title}<${Spinner} /></section>`
  const { models, total } = usage.data
  if (!models.length) return html`<section aria-labelledby="settings-usage">${title}<p class="setting-card-text">${t('settings.noUsage')}</p></section>`
  const cells = (one) =>
    html`<td class="numeric">${formatNumber(one.calls)}</td>
      <td class="numeric">${formatNumber(one.prompt_tokens)}</td>
      <td class="numeric">${formatNumber(one.completion_tokens)}</td>
      <td class="numeric">${amount(one.cost)}</td>`
  return html`<section aria-labelledby="settings-usage">
    ${title}
    <div class="table-scroll" role="region" aria-labelledby="settings-usage" tabindex="0">
      <table class="data-table">
        <thead>
          <tr>
            <th scope="col">${t('settings.model')}</th>
            ${['calls', 'prompt', 'completion', 'cost'].map((key) => html`<th scope="col" class="numeric">${t(`settings.${key}`)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${models.map((one) => html`<tr key=${one.model}><th scope="row">${one.model}</th>${cells(one)}</tr>`)}
          <tr class="total"><th scope="row">${t('settings.total')}</th>${cells(total)}</tr>
        </tbody>
      </table>
    </div>
    <p class="setting-card-text settings-note">${t('settings.usageNote')}</p>
  </section>`
}

function InForce({ settings: { version, requires_key, can_add_by_path, limits, reading, search } }) {
  const yes = (value) => t(value ? 'settings.yes' : 'settings.no')
  const groups = {
    reading: { parser: reading.parser, ocr: reading.ocr },
    search: { index: search.index, chunks: search.chunks, tokens: search.tokens, reranker: yes(search.reranker) },
    limits: {
      ...limits,
      question_seconds: t('units.seconds', { seconds: limits.question_seconds }),
      max_file_mb: t('settings.megabytes', { size: limits.max_file_mb }),
      requests_per_minute: limits.requests_per_minute || t('settings.unlimited'),
    },
    service: { version, requires_key: yes(requires_key), can_add_by_path: yes(can_add_by_path) },
  }
  return Object.entries(groups).map(
    ([group, values]) =>
      html`<section aria-labelledby="settings-${group}">
        <h2 id="settings-${group}">${t(`settings.${group}`)}</h2>
        <dl class="setting-list">
          ${Object.entries(values).map(
            ([key, value]) =>
              html`<div>
                <dt>${t(`settings.names.${key}`)}</dt>
                <dd>${typeof value === 'number' ? formatNumber(value) : value}</dd>
              </div>`,
          )}
        </dl>
      </section>`,
  )
}
