/** Answers as files, which the service writes. */

import { get, post } from '../api.js'

const ANY = { raw: true, accept: '*/*' }

/** @param {any[]} answers @param {'markdown' | 'csv' | 'html' | 'context'} format @param {string} [title] of an HTML page */
export async function exportAnswers(answers, format, title) {
  const response = await post('/v1/export', { answers, format, title }, ANY)
  return response.text()
}

/** @param {string} id @param {'markdown' | 'csv' | 'html'} format */
export async function exportConversation(id, format) {
  const response = await get(`/v1/conversations/${id}?format=${format}`, ANY)
  return response.text()
}
