/** Tags: those of a list to choose from, and a dialog that gives them to papers and takes them away. */

import { get, patch } from '../api.js'
import { Dialog, ErrorState, Icon, html, t, useAsync, useState } from '../ui/index.js'

/** The tags of the library as words of a search: a click puts one in or takes it out. @param {{query: string, onQuery: (query: string) => void, round: number}} props */
export function TagFilter({ query, onQuery, round }) {
  const found = useAsync((signal) => get('/v1/tags', { signal }), [round])
  const tags = Object.entries(found.data?.tags ?? {})
  if (!tags.length) return null
  const words = query.split(/\s+/).filter(Boolean)
  const toggle = (word) => onQuery((words.includes(word) ? words.filter((one) => one !== word) : [...words, word]).join(' '))
  return html`<div class="tag-filter" role="group" aria-label=${t('tags.title')}>
    ${tags.map(([tag, papers]) => {
      const on = words.includes(`#${tag}`)
      return html`<button type="button" key=${tag} class="chip ${on ? 'accent' : ''}" aria-pressed=${on} onClick=${() => toggle(`#${tag}`)}>#${tag} <small>${papers.length}</small></button>`
    })}
  </div>`
}

/** @param {{papers: {id: string, tags: string[]}[], onClose: (changed: boolean) => void}} props */
export function TagDialog({ papers, onClose }) {
  const all = useAsync((signal) => get('/v1/tags', { signal }), [])
  const [typed, setTyped] = useState('')
  const [error, setError] = useState(null)
  const [changed, setChanged] = useState(false)
  const ids = papers.map((paper) => paper.id)
  const tags = all.data?.tags ?? {}
  const change = async (body) => {
    try {
      all.set(await patch('/v1/tags', { papers: ids, ...body }))
      setTyped('')
      setError(null)
      setChanged(true)
    } catch (failure) {
      setError(failure)
    }
  }
  const add = (event) => {
    event.preventDefault()
    if (typed.trim()) change({ add: [typed] })
  }
  return html`<${Dialog} title=${t('tags.dialog', { count: papers.length })} size="small" onClose=${() => onClose(changed)}>
    <form class="tag-form" onSubmit=${add}>
      <input class="input" maxlength="60" aria-label=${t('tags.new')} placeholder=${t('tags.new')} value=${typed} onInput=${(event) => setTyped(event.currentTarget.value)} />
      <button type="submit" class="button" disabled=${!typed.trim()}><${Icon} name="plus" /><span>${t('tags.add')}</span></button>
    </form>
    ${error && html`<${ErrorState} error=${error} />`}
    <ul class="tag-list">
      ${Object.entries(tags).map(([tag, tagged]) => {
        const have = ids.every((id) => tagged.includes(id))
        return html`<li key=${tag}>
          <label class="check"><input type="checkbox" checked=${have} onChange=${() => change(have ? { remove: [tag] } : { add: [tag] })} /><span>#${tag}</span></label>
        </li>`
      })}
    </ul>
  <//>`
}
