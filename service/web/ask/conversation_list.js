/** The list of conversations in the navigation, and what can be done with one. */

import { get } from '../api.js'
import {
  Dialog,
  Icon,
  Menu,
  Spinner,
  attempt,
  copyText,
  download,
  errorTitle,
  fileName,
  go,
  html,
  t,
  toast,
  useRoute,
  useState,
} from '../ui/index.js'
import { list, useConversations } from './conversations.js'
import { exportConversation } from './export.js'

/** The list; `#/ask` begins a new conversation. */
export function ConversationList() {
  const { shown, error } = useConversations()
  const { path } = useRoute()
  return html`<section class="conversations" aria-label=${t('ask.conversations')}>
    <div class="conversations-head">
      <h2>${t('ask.conversations')}</h2>
      <a class="icon-button small" href="#/ask" aria-label=${t('ask.newConversation')} title=${t('ask.newConversation')}>
        <${Icon} name="plus" size="16" />
      </a>
    </div>
    ${error && !shown
      ? html`<p class="conversations-note">
          ${errorTitle(error)} <button type="button" class="link" onClick=${() => list.reload()}>${t('common.retry')}</button>
        </p>`
      : !shown
        ? html`<p class="conversations-note"><${Spinner} /></p>`
        : !shown.length
          ? html`<p class="conversations-note">${t('ask.noConversations')}</p>`
          : html`<ul>
              ${shown.map((head) => html`<${Entry} key=${head.id} head=${head} current=${path[0] === 'ask' && path[1] === head.id} />`)}
            </ul>`}
  </section>`
}

function Entry({ head, current }) {
  return html`<li class="conversation ${current ? 'current' : ''}">
    <a href="#/ask/${head.id}" aria-current=${current ? 'page' : undefined} dir="auto" title=${head.title}>${head.title || t('ask.untitled')}</a>
    <${ConversationMenu} id=${head.id} title=${head.title} current=${current} class="small" />
  </li>`
}

/** @param {{id: string, title: string, current?: boolean, class?: string}} props */
export function ConversationMenu({ id, title, current = false, class: className }) {
  const [renaming, setRenaming] = useState(false)
  const save = (format, type) => attempt(async () => download(`${name}.${format}`, await exportConversation(id, format), `${type};charset=utf-8`))
  const saveJson = attempt(async () => {
    const { turns } = await get(`/v1/conversations/${id}`)
    download(`${name}.json`, JSON.stringify(turns, null, 1), 'application/json')
  })
  const name = fileName(title)
  const items = [
    { label: t('common.rename'), icon: 'edit', onSelect: () => setRenaming(true) },
    { label: t('ask.copyMarkdown'), icon: 'copy', onSelect: attempt(async () => copyText(await exportConversation(id, 'markdown')), t('common.copied')) },
    { label: t('ask.saveJson'), icon: 'download', onSelect: saveJson },
    { label: t('ask.saveCsv'), icon: 'download', onSelect: save('csv', 'text/csv') },
    { label: t('ask.saveHtml'), icon: 'download', onSelect: save('html', 'text/html') },
    { label: t('common.delete'), icon: 'trash', danger: true, onSelect: () => remove(id, title, current) },
  ]
  return html`<${Menu} label=${t('ask.conversationMenu', { title: title || t('ask.untitled') })} items=${items} class=${className} />
    ${renaming && html`<${Rename} id=${id} title=${title} onClose=${() => setRenaming(false)} />`}`
}

function remove(id, title, current) {
  list.hide(id)
  if (current) go(['ask'], {}, { replace: true })
  toast(t('ask.deleted', { title: title || t('ask.untitled') }), {
    undo: () => {
      list.show(id)
      if (current) go(['ask', id], {}, { replace: true })
    },
    commit: () =>
      list.remove(id).catch((error) => {
        list.show(id)
        toast(errorTitle(error), { kind: 'error' })
      }),
  })
}

function Rename({ id, title, onClose }) {
  const [text, setText] = useState(title)
  const submit = async (event) => {
    event.preventDefault()
    try {
      await list.rename(id, text.trim())
      onClose()
    } catch (error) {
      toast(errorTitle(error), { kind: 'error' })
    }
  }
  const footer = html`<button type="button" class="button quiet" onClick=${onClose}>${t('common.cancel')}</button>
    <button type="submit" form="rename" class="button primary" disabled=${!text.trim()}>${t('common.save')}</button>`
  return html`<${Dialog} title=${t('ask.renameTitle')} size="small" onClose=${onClose} footer=${footer}>
    <form id="rename" class="field" onSubmit=${submit}>
      <label for="rename-title">${t('ask.renameLabel')}</label>
      <input id="rename-title" class="input" dir="auto" maxlength="200" autofocus value=${text} onInput=${(event) => setText(event.currentTarget.value)} />
    </form>
  <//>`
}
