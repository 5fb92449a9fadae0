import { DomainError } from '../../foundation/errors.ts'
import { demand } from '../access.ts'
import { lockConfiguration } from '../configuration.ts'
import { checkVersion, type Expectation } from '../expectation.ts'
import type { WriteScope } from '../write.ts'
import { endpointNotFound } from './endpoint.ts'
import { finishEndpoint, finishToolset } from './finish.ts'
import { usersOf } from './members.ts'
import { toolsetNotFound } from './toolset.ts'

type Deleted = { id: string; deleted: boolean }

/** Deletes the endpoint; its address is 404 from then on. */
export async function deleteEndpoint(
  scope: WriteScope,
  baseId: string,
  id: string,
  expected: Expectation,
): Promise<Deleted> {
  demand(scope.access, 'manage', baseId, '*')
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const where = { baseId_id: { baseId, id } }
    const held = await tx.orm.endpoint.findUnique({ where })
    if (!held) throw endpointNotFound(id)
    checkVersion(expected, held.version, `endpoint "${id}"`)
    await tx.orm.endpoint.delete({ where })
    await finishEndpoint(within, { ...held, version: held.version + 1 }, 'delete')
    return { id, deleted: true }
  })
}

/** Deletes the toolset. @throws CONFLICT while an endpoint has it */
export async function deleteToolset(
  scope: WriteScope,
  baseId: string,
  id: string,
  expected: Expectation,
): Promise<Deleted> {
  demand(scope.access, 'manage', baseId, '*')
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const where = { baseId_id: { baseId, id } }
    const held = await tx.orm.toolset.findUnique({ where })
    if (!held) throw toolsetNotFound(id)
    checkVersion(expected, held.version, `toolset "${id}"`)
    const users = await usersOf(within, baseId, id)
    if (users.length > 0)
      throw inUse(
        id,
        users.map((user) => user.id),
      )
    await tx.orm.toolset.delete({ where })
    await finishToolset(within, { ...held, version: held.version + 1 }, 'delete')
    return { id, deleted: true }
  })
}

const SAMPLES = 10

function inUse(id: string, users: readonly string[]): DomainError {
  const shown = users.slice(0, SAMPLES)
  const message = `Toolset "${id}" is in use by ${shown.map((user) => `"${user}"`).join(', ')}${users.length > shown.length ? ' and others' : ''}. Take it out of these endpoints first.`
  return new DomainError('CONFLICT', message, {
    details: [
      {
        path: '/id',
        code: 'in_use',
        message,
        count: users.length,
        samples: shown.map((user) => ({ endpoint: user })),
      },
    ],
  })
}
