/** The part of the graph that is shown: it grows by neighbourhoods, as `GET /v1/graph` returns them. */

import { decodePart } from '../ui/route.js'

/**
 * @typedef {{id: string, name: string, type: string, description: string, sources: string[], aliases: string[]}} Entity
 * @typedef {{source: string, target: string, kind: string, description: string, sources: string[], weight: number}} Relation
 * @typedef {{paper: string, page: number, box: number[]}} Place
 * @typedef {{center: Entity, entities: Entity[], relations: Relation[], places: Record<string, Place>,
 *   files: Record<string, string>, definitions: Definition[]}} Neighbourhood
 * @typedef {{quote: string, name: string, place: Place, more_places: Place[]}} Definition
 */

/**
 * A part of the graph.
 *
 * @typedef {{entities: Map<string, Entity>, relations: Map<string, Relation>, ends: Map<string, string[]>,
 *   places: Map<string, Place>, files: Map<string, string>, definitions: Map<string, Definition[]>, expanded: Map<string, {limit: number, hasMore: boolean}>}} Part
 *   `ends` are the keys of an entity's relations; `expanded` has the entities that were expanded, in their order, with the
 *   number of relations that was asked for and whether there are more
 */

/** @returns {Part} */
export function emptyPart() {
  return {
    entities: new Map(),
    relations: new Map(),
    ends: new Map(),
    places: new Map(),
    files: new Map(),
    definitions: new Map(),
    expanded: new Map(),
  }
}

/** @param {Relation} relation */
export const relationKey = ({ source, target, kind }) => JSON.stringify([source, target, kind])

/** The part with a neighbourhood of `limit` relations at most added. @param {Part} part @param {Neighbourhood} found @returns {Part} */
export function withNeighbourhood(part, found, limit) {
  const entities = new Map(part.entities)
  const relations = new Map(part.relations)
  const ends = new Map(part.ends)
  for (const one of found.entities) entities.set(one.id, one)
  for (const one of found.relations) {
    const key = relationKey(one)
    if (!relations.has(key)) {
      for (const end of new Set([one.source, one.target])) ends.set(end, [...(ends.get(end) ?? []), key])
    }
    relations.set(key, one)
  }
  return {
    entities,
    relations,
    ends,
    places: new Map([...part.places, ...Object.entries(found.places)]),
    files: new Map([...part.files, ...Object.entries(found.files)]),
    definitions: new Map(part.definitions).set(found.center.id, found.definitions ?? []),
    expanded: new Map(part.expanded).set(found.center.id, { limit, hasMore: found.relations.length >= limit }),
  }
}

/** The part without the neighbours that only this entity connects. @param {Part} part @param {string} id @returns {Part} */
export function collapsed(part, id) {
  const leaves = new Set(
    neighbours(part, id).filter((one) => !part.expanded.has(one) && neighbours(part, one).every((end) => end === id)),
  )
  const expanded = new Map(part.expanded)
  expanded.delete(id)
  const relations = new Map([...part.relations].filter(([, one]) => !leaves.has(one.source) && !leaves.has(one.target)))
  const ends = new Map(
    [...part.ends].filter(([end]) => !leaves.has(end)).map(([end, keys]) => [end, keys.filter((key) => relations.has(key))]),
  )
  const entities = new Map([...part.entities].filter(([end]) => !leaves.has(end)))
  return { ...part, entities, relations, ends, expanded }
}

/** The ids of the entities that are connected with one. @param {Part} part @param {string} id @returns {string[]} */
export function neighbours(part, id) {
  const found = (part.ends.get(id) ?? []).map((key) => otherEnd(part.relations.get(key), id))
  return [...new Set(found)]
}

/** @param {Relation} relation @param {string} id */
export const otherEnd = (relation, id) => (relation.source === id ? relation.target : relation.source)

/** The statements about an entity, the strongest first. @param {Part} part @param {string} id @returns {Relation[]} */
export function statements(part, id) {
  const found = (part.ends.get(id) ?? []).map((key) => part.relations.get(key))
  return found.sort((a, b) => b.weight - a.weight || a.kind.localeCompare(b.kind))
}

/** The types of the entities with their numbers, the most common first. @param {Part} part @returns {[string, number][]} */
export function typeCounts(part) {
  const counts = new Map()
  for (const { type } of part.entities.values()) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
}

/** The shown entities by the number of their shown relations. @param {Part} part @param {Set<string>} hidden types */
export function listed(part, hidden) {
  return [...part.entities.values()]
    .filter((one) => !hidden.has(one.type))
    .map((entity) => ({ entity, degree: part.ends.get(entity.id)?.length ?? 0 }))
    .sort((a, b) => b.degree - a.degree || a.entity.name.localeCompare(b.entity.name))
}

/** @typedef {{entity: string, limit: number}} Step  an entity that is expanded, and up to how many relations */

/** The steps of a walk as a text for the address. @param {Step[]} steps @param {number} usual the limit that is not written */
export function walkText(steps, usual) {
  return steps.map(({ entity, limit }) => encodeURIComponent(entity) + (limit === usual ? '' : `:${limit}`)).join()
}

/** What `walkText` wrote. @param {string} text @param {number[]} limits those that there are, the usual one first @returns {Step[]} */
export function walkSteps(text, limits) {
  const steps = text.split(',').filter(Boolean).map((step) => step.split(':'))
  return steps.map(([entity, limit]) => ({
    entity: decodePart(entity),
    limit: limits.find((one) => one === Number(limit)) ?? limits[0],
  }))
}
