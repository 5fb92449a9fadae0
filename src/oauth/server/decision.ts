/** What a person chose in the form. Each value must be one that the page offered. */
import type { Permission } from '../../graphql/context.ts'
import type { Choices } from './choices.ts'
import type { Parameters } from './parameters.ts'

const HOUR_MS = 3_600_000

/** The ends that the page offers, in hours. */
export const END_HOURS: readonly (readonly [number, string])[] = [
  [1, 'In an hour'],
  [24, 'In a day'],
  [168, 'In 7 days'],
  [720, 'In 30 days'],
  [2160, 'In 90 days'],
  [8760, 'In a year'],
]

/** The chosen part of the person's rights, or what is missing. */
export function reachIn(form: Parameters, { base, types, endpoints, hasTypes, permissions }: Choices) {
  const { reach = '', permission = '' } = form
  const proposes = permission === 'propose'
  const level = (proposes ? 'write' : permission) as Permission
  if (!permissions.includes(level)) return 'Choose what the client may do.'
  const rights = { base, permission: level, proposes }
  const endpoint = endpoints.find(({ id }) => reach === `endpoint:${id}`)
  if (endpoint)
    return level === 'read' || permission === 'write'
      ? { ...rights, types: null, endpoint: endpoint.id }
      : 'An endpoint is read or written.'
  if (reach === 'all' && hasTypes) return { ...rights, types: null, endpoint: null }
  if (reach !== 'types') return 'Choose what the client may reach.'
  const chosen = types.filter(({ id }) => form[`type:${id}`] !== undefined).map(({ id }) => id)
  return chosen.length === 0 ? 'Choose at least one type.' : { ...rights, types: chosen, endpoint: null }
}

/** The chosen end, null for none; undefined if it is not one. */
export function endIn({ end = '' }: Parameters, own: Date | null): Date | null | undefined {
  if (end === 'never' && own === null) return null
  if (end === 'own') return own ?? undefined
  const hours = END_HOURS.find(([each]) => String(each) === end)?.[0]
  return hours === undefined ? undefined : new Date(Date.now() + hours * HOUR_MS)
}
