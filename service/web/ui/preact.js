/** Preact with its hooks, and `html` for templates without a build step. */

import htm from 'htm'
import { h } from 'preact'

export { Component, Fragment, cloneElement, createContext, createRef, h, render } from 'preact'
export {
  useCallback,
  useContext,
  useEffect,
  useErrorBoundary,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from 'preact/hooks'

export const html = htm.bind(h)
