import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { WriteScope } from '../../write/write.ts'

/**
 * Refuses the deletion of an action that endpoints offer.
 * @throws CONFLICT with those endpoints
 */
export async function requireUnused(
  { db }: WriteScope,
  { baseId, id }: { readonly baseId: string; readonly id: string },
): Promise<void> {
  const where = { baseId, actions: { has: id } }
  const users = await db.orm.endpoint.findMany({ where, select: { id: true }, take: LIMITS.samples })
  if (users.length === 0) return
  const message = `Action "${id}" is in use by ${users.map((user) => `"${user.id}"`).join(', ')}. Take it out of these endpoints first.`
  const samples = users.map((user) => ({ endpoint: user.id }))
  throw new DomainError('CONFLICT', message, {
    details: [{ path: '/id', code: 'in_use', message, count: users.length, samples }],
  })
}
