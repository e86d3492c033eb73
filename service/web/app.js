/** The shell: routes, navigation, theme, and the sign-in gate. */

import { at, del, get, onSignIn } from './api.js'
import { ConversationList } from './ask/conversation_list.js'
import {
  EmptyState,
  ErrorState,
  Icon,
  Menu,
  Spinner,
  Toasts,
  html,
  render,
  stored,
  t,
  toast,
  useAsync,
  useEffect,
  useErrorBoundary,
  useRef,
  useRoute,
  useState,
} from './ui/index.js'

/**
 * The views by the first part of their route. One without an icon is not in the navigation; `under` names the entry that is
 * current for it. A view gets `{route}`.
 */
const VIEWS = {
  ask: { icon: 'ask', load: () => import('./views/ask.js').then((module) => module.Ask) },
  library: { icon: 'library', load: () => import('./views/library.js').then((module) => module.Library) },
  graph: { icon: 'graph', load: () => import('./views/graph.js').then((module) => module.Graph) },
  gallery: { icon: 'image', load: () => import('./views/gallery.js').then((module) => module.Gallery) },
  batches: { icon: 'batch', load: () => import('./views/batch.js').then((module) => module.Batch) },
  tables: { icon: 'table', load: () => import('./views/literature.js').then((module) => module.Literature) },
  results: { icon: 'chart', load: () => import('./views/results.js').then((module) => module.Results) },
  papers: { under: 'library', load: () => import('./views/paper.js').then((module) => module.Paper) },
  notes: { icon: 'edit', load: () => import('./views/notes.js').then((module) => module.Notes) },
  settings: { icon: 'settings', load: () => import('./views/settings.js').then((module) => module.Settings) },
}
const HOME = 'ask'

function App() {
  const route = useRoute()
  const name = route.path[0] ?? HOME
  const session = useAsync((signal) => get('/v1/session', { signal }), [])
  const [gate, setGate] = useState(null)
  const [drawer, setDrawer] = useState(false)
  const main = useRef()
  const shown = useRef(name)

  useEffect(() => {
    onSignIn(() => new Promise((resolve) => setGate({ resolve })))
  }, [])
  useEffect(() => {
    document.title = `${t(name in VIEWS ? `nav.${name}` : 'app.unknownTitle')} – ${t('app.name')}`
    setDrawer(false)
    if (shown.current !== name) main.current.focus({ preventScroll: true })
    shown.current = name
  }, [name, route])

  const signedIn = async () => {
    const before = session.data?.library
    const { library } = await get('/v1/session')
    if (before && library !== before) {
      // What the page shows and has still to send belongs to another library, and so may its address.
      history.replaceState(null, '', location.pathname)
      return location.reload()
    }
    gate.resolve()
    setGate(null)
    session.reload()
  }
  const signOut = async () => {
    await del('/v1/session')
    stored('signed-in', null)
    toast(t('app.signedOut'))
    location.reload()
  }
  const sidebar = { name, session: session.data, onSignOut: signOut }
  return html`
    <div class="shell">
      <a class="skip button primary" href="#main" onClick=${(event) => {
        event.preventDefault()
        main.current.focus()
      }}>${t('app.skip')}</a>
      <header class="topbar">
        <button type="button" class="icon-button" aria-label=${t('app.openNavigation')} onClick=${() => setDrawer(true)}>
          <${Icon} name="menu" />
        </button>
        <${Brand} />
      </header>
      <${Sidebar} ...${sidebar} foldable />
      <main class="view" id="main" tabindex="-1" ref=${main}>
        <${View} key=${name} name=${name} route=${route} />
      </main>
    </div>
    ${drawer && html`<${Drawer} onClose=${() => setDrawer(false)}><${Sidebar} ...${sidebar} /><//>`}
    ${gate && html`<${Gate} onDone=${signedIn} />`}
    <${Toasts} />
  `
}

function View({ name, route }) {
  const view = VIEWS[name]
  const [crash, reset] = useErrorBoundary()
  const { data: Component, error, reload } = useAsync(() => view?.load().then((found) => ({ found })) ?? null, [])
  if (!view) {
    const action = html`<a class="button primary" href="#/ask">${t('app.unknownAction')}</a>`
    return html`<div class="view-state">
      <${EmptyState} icon="search" title=${t('app.unknownTitle')} action=${action}>${t('app.unknownText')}<//>
    </div>`
  }
  if (crash) {
    return html`<div class="view-state">
      <${ErrorState} title=${t('app.crashed')} error=${{ detail: String(crash.message ?? crash) }} onRetry=${reset} />
    </div>`
  }
  if (error) {
    return html`<div class="view-state">
      <${ErrorState} title=${t('app.viewFailed')} error=${{ detail: t('errors.unreachableDetail') }} onRetry=${reload} />
    </div>`
  }
  if (!Component) return html`<div class="view-state"><${Spinner} /></div>`
  return html`<${Component.found} route=${route} />`
}

function Brand() {
  return html`<div class="brand">
    <a href="#/ask"><img src=${at('/web/icon.svg')} width="24" height="24" alt="" /><span>${t('app.name')}</span></a>
  </div>`
}

function Sidebar({ name, session, onSignOut, foldable = false }) {
  const [folded, setFolded] = useState(() => foldable && stored('sidebar') === 'folded')
  const fold = () => {
    stored('sidebar', folded ? null : 'folded')
    setFolded(!folded)
  }
  const current = VIEWS[name]?.under ?? name
  const foldLabel = t(folded ? 'app.unfoldNavigation' : 'app.foldNavigation')
  return html`<aside class="sidebar ${folded ? 'folded' : ''}">
    <div class="brand">
      ${!folded && html`<a href="#/ask"><img src=${at('/web/icon.svg')} width="24" height="24" alt="" /><span>${t('app.name')}</span></a>`}
      ${foldable &&
      html`<button type="button" class="icon-button small" aria-label=${foldLabel} title=${foldLabel} aria-expanded=${!folded} onClick=${fold}>
        <${Icon} name="sidebar" />
      </button>`}
    </div>
    <nav class="nav" aria-label=${t('app.navigation')}>
      ${Object.entries(VIEWS)
        .filter(([, view]) => view.icon)
        .map(
          ([key, view]) =>
            html`<a
              href="#/${key}"
              aria-current=${key === current ? 'page' : undefined}
              aria-label=${folded ? t(`nav.${key}`) : undefined}
              title=${folded ? t(`nav.${key}`) : undefined}
            >
              <${Icon} name=${view.icon} />${!folded && html`<span>${t(`nav.${key}`)}</span>`}
            </a>`,
        )}
    </nav>
    <div class="sidebar-middle">${!folded && html`<${ConversationList} />`}</div>
    <div class="sidebar-foot">
      <${ThemeMenu} />
      ${!folded && html`<a href=${at('/openapi.json')}>${t('app.apiDocs')}</a>`}
      ${!folded &&
      session?.required &&
      session.signed_in &&
      html`<button type="button" class="button quiet small end" onClick=${onSignOut}>${t('app.signOut')}</button>`}
    </div>
  </aside>`
}

function ThemeMenu() {
  const [theme, setTheme] = useState(() => stored('theme') ?? 'system')
  const choose = (chosen) => {
    setTheme(chosen)
    stored('theme', chosen === 'system' ? null : chosen)
    if (chosen === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = chosen
  }
  const icons = { system: 'system', light: 'sun', dark: 'moon' }
  const labels = { system: 'app.themeSystem', light: 'app.themeLight', dark: 'app.themeDark' }
  const items = Object.keys(icons).map((key) => ({ label: t(labels[key]), icon: icons[key], onSelect: () => choose(key) }))
  return html`<${Menu} label=${t('app.theme')} icon=${icons[theme]} items=${items} align="start" />`
}

function Drawer({ onClose, children }) {
  const element = useRef()
  useEffect(() => {
    const dialog = element.current
    dialog.showModal()
    return () => dialog.close()
  }, [])
  const onClick = (event) => (event.target === element.current || event.target.closest('a')) && onClose()
  return html`<dialog class="drawer" aria-label=${t('app.navigation')} ref=${element} onCancel=${onClose} onClick=${onClick}>
    ${children}
  </dialog>`
}

/** Asks for a key; `SignIn` calls `onDone` once there is a session. */
function Gate({ onDone }) {
  const { data, error, reload } = useAsync(() => import('./views/signin.js').then((module) => ({ SignIn: module.SignIn })), [])
  if (error) return html`<div class="toasts"><${ErrorState} title=${t('app.viewFailed')} error=${{}} onRetry=${reload} /></div>`
  return data && html`<${data.SignIn} onDone=${onDone} />`
}

render(html`<${App} />`, document.getElementById('app'))
