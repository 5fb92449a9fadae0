import { ToolsetBody } from '../../../contract/endpoint-shapes.ts'
import { type Detail, DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Toolset as Row } from '../../prisma/client.ts'
import type { WriteScope } from '../../write/write.ts'
import type { FieldsOf, Kind } from '../lifecycle/kind.ts'
import { portableIdsOf, typesOf } from './load-record-types.ts'
import { type FormerName, formerNames } from './name-aliases.ts'
import { nameFaults, nameTools } from './named-tools.ts'
import { toolsetsOf, toolsOf, toolsOfEndpoint, usersOf } from './toolset-members.ts'
import { selectionFaults, typesNamed } from './validate-selections.ts'

type Fields = FieldsOf<typeof ToolsetBody>

/** Toolsets: named lists of tools that endpoints share. */
export const TOOLSET: Kind<Fields, Row> = {
  name: 'toolset',
  label: 'a toolset',
  codes: { notFound: 'toolset_not_found', unknown: 'unknown_toolset' },
  body: ToolsetBody,
  defaults: (id) => ({ name: id, description: null, tools: [] }),
  table: ({ orm }) => orm.toolset,
  references: ({ tools }) => typesNamed(tools),
  preload: (loaded, nexts) =>
    typesOf(
      loaded,
      nexts.flatMap(({ tools }) => tools),
    ),
  check: async (loaded, { current, next }) => {
    const portableIds = await loaded.once(portableIdsOf)
    const types = await typesOf(loaded, next.tools)
    const named = nameTools(next.tools, portableIds, (i) => `/tools/${i}`)
    return {
      faults: [...selectionFaults(next.tools, types), ...nameFaults(named)],
      columns: () => {
        const before = current ? nameTools(toolsOf(current), portableIds, () => '') : []
        return { formerNames: formerNames((current?.formerNames ?? []) as FormerName[], before, named) }
      },
      dependents: async (row) => {
        if (current) await checkUniqueNames(loaded.scope, row)
      },
    }
  },
  lockUnused: async (scope, baseId, rows) => {
    const ids = new Set(rows.map(({ id }) => id))
    for (const { toolsets } of await usersOf(scope, baseId, [...ids]))
      for (const id of toolsets) ids.delete(id)
    return ids
  },
  beforeDelete: async (scope, { baseId, id }) => {
    const users = await usersOf(scope, baseId, [id])
    if (users.length > 0) throw inUse(id, users)
  },
}

/**
 * Checks that tool names stay unique in each endpoint that uses the toolset.
 * @throws CONFLICT with those endpoints
 */
async function checkUniqueNames(scope: WriteScope, { baseId, id }: Row): Promise<void> {
  const portableIds = await portableIdsOf(scope, baseId)
  const details: Detail[] = []
  for (const user of await usersOf(scope, baseId, [id])) {
    const toolsets = await toolsetsOf(scope, baseId, user.toolsets)
    const [clash] = nameFaults(toolsOfEndpoint(user, toolsets, portableIds))
    if (clash)
      details.push({
        ...clash,
        path: '/tools',
        message: `Endpoint "${user.id}" has this toolset and would have two tools named "${String(clash.received)}". Change one of them first.`,
      })
  }
  if (details.length > 0) throw new DomainError('CONFLICT', details[0]?.message ?? '', { details })
}

function inUse(id: string, users: readonly { id: string }[]): DomainError {
  const shown = users.slice(0, LIMITS.samples).map((user) => user.id)
  const message = `Toolset "${id}" is in use by ${shown.map((user) => `"${user}"`).join(', ')}${users.length > shown.length ? ' and others' : ''}. Take it out of these endpoints first.`
  const samples = shown.map((endpoint) => ({ endpoint }))
  return new DomainError('CONFLICT', message, {
    details: [{ path: '/id', code: 'in_use', message, count: users.length, samples }],
  })
}
