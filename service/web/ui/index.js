/** The components and helpers that views share. */

export * from './preact.js'
export { Dialog } from './dialog.js'
export { copyText, download, fileName } from './files.js'
export { Formula } from './formula.js'
export { stored, useAsync, useDebounced, useEvent, useMedia } from './hooks.js'
export { Icon } from './icon.js'
export { Menu, place } from './menu.js'
export { go, parseRoute, routeTo, useRoute } from './route.js'
export { EmptyState, ErrorState, Spinner, errorTitle } from './states.js'
export { Tabs } from './tabs.js'
export { formatBytes, formatDate, formatNumber, formatSeconds, language, t } from './text.js'
export { Toasts, attempt, toast } from './toast.js'
