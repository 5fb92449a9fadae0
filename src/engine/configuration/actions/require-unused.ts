import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { WriteScope } from '../../write/write.ts'

/**
 * Refuses the deletion of an action that endpoints offer, or triggers run.
 * @throws CONFLICT with those
 */
export async function requireUnused(
  { db }: WriteScope,
  { baseId, id }: { readonly baseId: string; readonly id: string },
): Promise<void> {
  const some = { select: { id: true }, take: LIMITS.samples } as const
  const endpoints = await db.orm.endpoint.findMany({ where: { baseId, actions: { has: id } }, ...some })
  const triggers = await db.orm.trigger.findMany({ where: { baseId, action: id }, ...some })
  const users = [...endpoints, ...triggers]
  if (users.length === 0) return
  const kinds = [...(endpoints.length > 0 ? ['endpoints'] : []), ...(triggers.length > 0 ? ['triggers'] : [])]
  const message = `Action "${id}" is in use by ${users.map((user) => `"${user.id}"`).join(', ')}. Take it out of these ${kinds.join(' and ')} first.`
  const samples = [
    ...endpoints.map((user) => ({ endpoint: user.id })),
    ...triggers.map((user) => ({ trigger: user.id })),
  ]
  throw new DomainError('CONFLICT', message, {
    details: [{ path: '/id', code: 'in_use', message, count: users.length, samples }],
  })
}
