import { ToolsetBody } from '../../../contract/endpoint-shapes.ts'
import { type Detail, DomainError } from '../../../foundation/errors.ts'
import type { Toolset as Row } from '../../prisma/client.ts'
import type { FieldsOf, Kind, Loaded } from '../lifecycle/kind.ts'
import { portableIdsIn, typesOf } from './load-record-types.ts'
import { type FormerName, formerNames } from './name-aliases.ts'
import { nameFaults, nameTools } from './named-tools.ts'
import { toolsOf, toolsOfEndpoint, usersOf } from './toolset-members.ts'
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
  check: async (loaded, { id, current, next, options }) => {
    const portableIds = await portableIdsIn(loaded)
    const types = await typesOf(loaded, next.tools, options)
    const named = nameTools(next.tools, portableIds, (i) => `/tools/${i}`)
    return {
      faults: [...selectionFaults(next.tools, types), ...nameFaults(named)],
      columns: () => {
        const before = current ? nameTools(toolsOf(current), portableIds, () => '') : []
        return { formerNames: formerNames((current?.formerNames ?? []) as FormerName[], before, named) }
      },
      dependents: async () => {
        if (current) await checkUniqueNames(loaded, id)
      },
    }
  },
}

/**
 * Checks that tool names stay unique in each endpoint that uses the toolset.
 * @throws CONFLICT with those endpoints
 */
async function checkUniqueNames(loaded: Loaded, id: string): Promise<void> {
  const portableIds = await portableIdsIn(loaded)
  const details: Detail[] = []
  for (const user of await usersOf(loaded, id)) {
    const toolsets = await loaded.rows(TOOLSET, user.toolsets)
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
