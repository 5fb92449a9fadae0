/**
 * Endpoints and toolsets as kinds of configuration. `resolve.ts` makes the tools of an endpoint from both.
 */
import { actionsOf, EndpointBody } from '../../../contract/endpoint-shapes.ts'
import type { Endpoint as Row } from '../../prisma/client.ts'
import { ACTION } from '../actions/index.ts'
import type { FieldsOf, Kind } from '../lifecycle/kind.ts'
import { RELATIONSHIP_TYPE } from '../relationship-types/relationship-type.ts'
import { impossibleSteps } from './impossible-steps.ts'
import { linkFaults } from './link-ends.ts'
import { portableIdsIn, typesOf } from './load-record-types.ts'
import { type FormerName, formerNames } from './name-aliases.ts'
import { nameFaults } from './named-tools.ts'
import { TOOLSET } from './toolset.ts'
import { toolsOfEndpoint, typedToolsOf } from './toolset-members.ts'
import { repeated, selectionFaults, typesNamed } from './validate-selections.ts'

type Fields = FieldsOf<typeof EndpointBody>

/**
 * Endpoints: sets of agent tools, each set with its own URL. A renamed tool keeps its former name as an
 * alias.
 */
export const ENDPOINT: Kind<Fields, Row> = {
  name: 'endpoint',
  label: 'an endpoint',
  codes: { notFound: 'endpoint_not_found' },
  body: EndpointBody,
  defaults: (id) => ({
    name: id,
    description: null,
    instructions: null,
    toolsets: [],
    tools: [],
    relationships: [],
    batch: { enabled: false },
    sqlQuery: false,
    undo: false,
    resources: false,
    actions: [],
    enabled: true,
  }),
  // Those of actions need their rows: `check` has them.
  warnings: () => [],
  table: ({ orm }) => orm.endpoint,
  references: ({ tools, toolsets, relationships, actions }) => [
    ...typesNamed(tools),
    ...toolsets.map((id, i) => ({ kind: TOOLSET, id, at: `/toolsets/${i}` })),
    ...actionsOf({ actions }).map(({ id }, i) => ({ kind: ACTION, id, at: `/actions/${i}` })),
    ...relationships.map(({ rel_type: id }, i) => ({
      kind: RELATIONSHIP_TYPE,
      id,
      at: `/relationships/${i}/rel_type`,
    })),
  ],
  preload: async (loaded, nexts) => {
    const relTypes = nexts.flatMap(({ relationships }) => relationships.map(({ rel_type }) => rel_type))
    await typesOf(
      loaded,
      nexts.flatMap(({ tools }) => tools),
    )
    await loaded.rows(TOOLSET, [...new Set(nexts.flatMap(({ toolsets }) => toolsets))])
    await loaded.rows(RELATIONSHIP_TYPE, [...new Set(relTypes)])
  },
  check: async (loaded, { current, next, options }) => {
    const portableIds = await portableIdsIn(loaded)
    const types = await typesOf(loaded, next.tools, options)
    const toolsets = await loaded.rows(TOOLSET, next.toolsets)
    const named = typedToolsOf(next, toolsets, portableIds)
    const asked = actionsOf(next)
    const actions = await loaded.rows(
      ACTION,
      asked.map(({ id }) => id),
    )
    return {
      effect: () => ({
        warnings: impossibleSteps(
          asked.flatMap(({ id, runAs }) => {
            const action = actions.get(id)
            return action ? [{ action, runAs }] : []
          }),
          named,
        ),
      }),
      faults: [
        ...selectionFaults(next.tools, types),
        ...repeated(next.toolsets, '/toolsets'),
        ...repeated(
          actionsOf(next).map(({ id }) => id),
          '/actions',
        ),
        ...next.relationships.flatMap(({ operations }, i) =>
          repeated(operations, `/relationships/${i}/operations`),
        ),
        ...nameFaults(toolsOfEndpoint(next, toolsets, portableIds)),
        ...linkFaults(
          options.leavesReferences ? [] : next.relationships,
          await loaded.rows(
            RELATIONSHIP_TYPE,
            next.relationships.map(({ rel_type }) => rel_type),
          ),
          named,
        ),
      ],
      columns: async () => {
        const before = current
          ? typedToolsOf(current, await loaded.rows(TOOLSET, current.toolsets), portableIds)
          : []
        return { formerNames: formerNames((current?.formerNames ?? []) as FormerName[], before, named) }
      },
    }
  },
}
