/** Compiles the grants of a token into the predicate of `access.ts`. */

import { productionOf } from '../../../contract/ids.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Access, Paused } from './access.ts'
import {
  cover,
  type Grant,
  isOnBase,
  level,
  listed,
  PERMISSIONS,
  type Permission,
  proposes,
  type Rule,
  toRule,
} from './grants.ts'

export function compileAccess(grants: readonly Grant[], paused: Paused = NOWHERE): Access {
  const all = grants.map(toRule)
  // Only these count below. An endpoint grant reaches nothing but its endpoint.
  const onTypes = all.filter(({ grant }) => grant.record_type !== undefined)
  const isPaused = (baseId: string) => paused.has(productionOf(baseId))
  const reaching = (rules: readonly Rule[], permission: Permission, baseId: string) => {
    const environment = productionOf(baseId) === baseId ? 'production' : 'preview'
    if (permission !== 'read' && isPaused(baseId)) return []
    return rules.filter(
      (rule) =>
        (environment === 'production' ? rule.levelInProduction : rule.level) >= level(permission) &&
        (rule.grant.environment === '*' || rule.grant.environment === environment) &&
        isOnBase(rule, baseId),
    )
  }
  const decide = (permission: Permission, baseId: string, recordType: string): boolean =>
    reaching(onTypes, permission, baseId).some(({ types }) => types.has('*') || types.has(recordType))
  // Grants of a compiled predicate never change, so decisions can be cached.
  const decided = new Map<string, boolean>()
  const allows: Access['allows'] = (permission, baseId, recordType) => {
    const question = `${permission} ${baseId} ${recordType}`
    const known = decided.get(question)
    if (known !== undefined) return known
    if (decided.size >= LIMITS.accessDecisions) decided.clear()
    const answer = decide(permission, baseId, recordType)
    // No valid name is that long, so do not cache it.
    if (question.length > LIMITS.accessQuestionChars) return answer
    decided.set(question, answer)
    return answer
  }
  const proposing = onTypes.filter(({ grant }) => proposes(grant))
  const proposingTo = (baseId: string) =>
    isPaused(baseId) ? [] : proposing.filter((rule) => isOnBase(rule, baseId))
  return {
    grants,
    paused,
    allows,
    allowsFiles: (permission, baseId) => allows(permission, baseId, '*'),
    types: (permission, baseId) => typesOf(reaching(onTypes, permission, baseId)),
    proposed: (baseId) => (proposing.length === 0 ? NO_TYPES : typesOf(proposingTo(baseId))),
    proposing: proposingTo,
    sees: (baseId) => reaching(onTypes, 'read', baseId).length > 0,
    knows: (baseId) => reaching(all, 'read', baseId).length > 0,
    atEndpoint: (baseId, endpointId) => {
      const found = reaching(all, 'read', baseId).filter(({ endpoints }) => endpoints.has(endpointId))
      const most =
        PERMISSIONS.findLast((each) => found.some(({ grant }) => grant.permission === each)) ?? null
      return most && isPaused(baseId) ? 'read' : most
    },
    bases: (permission) => {
      const found = onTypes.filter((rule) => rule.level >= level(permission))
      if (found.some((rule) => rule.bases.has('*'))) return '*'
      return new Set(found.flatMap((rule) => [...rule.bases]))
    },
    covers: (wanted) =>
      cover(all, wanted) &&
      (paused.size === 0 ||
        wanted.permission === 'read' ||
        !listed(wanted.base).some((base) => base === '*' || isPaused(base))),
  }
}

const NO_TYPES: ReadonlySet<string> = new Set()
const NOWHERE: Paused = new Map()

const typesOf = (rules: readonly Rule[]): '*' | ReadonlySet<string> =>
  rules.some((rule) => rule.types.has('*')) ? '*' : new Set(rules.flatMap((rule) => [...rule.types]))
