/** What the caller may do about a proposal. The server decides; this says which buttons there are. */
import { useBase } from '../../api/queries.ts'
import { type Grant, useSession } from '../../api/session.ts'
import type { ChangeSet, Edit } from '../../api/shapes.ts'
import { allows } from '../grants.ts'
import { recordOf } from '../proposal.ts'

/** Grants whose writes count by themselves: what a token only proposes decides nothing. */
export const direct = (grants: readonly Grant[]): Grant[] =>
  grants.filter(({ writes = 'direct' }) => writes === 'direct')

export type Rights = {
  isOwn: boolean
  mayPromote: boolean
  mayReview: boolean
  maySay: boolean
  mayOpen: boolean
}

/** `request` is undefined where nobody has asked for a decision. */
type Item = {
  from?: string
  request?: { may_decide?: boolean }
  set?: ChangeSet
  by: { name: string } | null
}

/** Of a change-set, the types that it touches count; of links, and of configuration, all of the base. */
export function useRights(base: string, item: Item, edits: readonly Edit[] = []): Rights {
  const session = useSession()
  const self = 'self' in session ? session.self : undefined
  const environment = useBase(base).data?.environment
  const { request, set } = item
  const isOwn = request !== undefined && self !== undefined && item.by?.name === self.name
  const types = new Set(edits.map((edit) => (edit.kind === 'record' ? recordOf(edit)[0] : '*')))
  const all = direct(self?.grants ?? [])
  const may = (type: string, permission: Grant['permission']) =>
    allows(all, base, type, permission, environment)
  const mayWrite = [...types].every((type) => may(type, 'write'))
  const mayReview = set !== undefined && types.size > 0 && mayWrite && !isOwn
  const mayPromote = request?.may_decide ?? (set ? mayWrite : may('*', 'admin'))
  const mayEnter = allows(self?.grants ?? [], item.from ?? base, '*', 'write', 'preview')
  const mayOpen = may('*', 'write') || (set !== undefined && self !== undefined && set.created_by === self.id)
  return {
    isOwn,
    mayPromote: mayPromote && !isOwn,
    mayReview,
    maySay: set !== undefined && (mayWrite || mayEnter),
    mayOpen,
  }
}
