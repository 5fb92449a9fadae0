/** Account tool that deletes bases, record types and relationship types. */
import { z } from 'zod'
import { invalid } from '../../foundation/errors.ts'
import type { Context } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { DeletionParts, PlanParts } from '../../http/deletion-plan-fragment.ts'
import { deletedOr } from '../tool/approval.ts'
import { accountTool, deleting } from '../tool/tool.ts'

const deleteBase = staticOperation(
  `mutation ToolDeleteBase($id: String!) {
    deleteBase(id: $id) { id deleted dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts } }
  }`,
  [DeletionParts, PlanParts],
)
const deleteRecordType = staticOperation(
  `mutation ToolDeleteRecordType($base: String!, $id: String!) {
    deleteRecordType(base: $base, id: $id) { id deleted dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts } }
  }`,
  [DeletionParts, PlanParts],
)
const deleteRelationshipType = staticOperation(
  `mutation ToolDeleteRelationshipType($base: String!, $id: String!) {
    deleteRelationshipType(base: $base, id: $id) { id deleted dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts } }
  }`,
  [DeletionParts, PlanParts],
)

type Named = { base: string; id: string }

const RUN = {
  base: async ({ base, id }: Named, context: Context) => {
    if (base !== id) throw otherBase(base)
    return (await deleteBase({ id }, context)).deleteBase
  },
  record_type: async (named: Named, context: Context) =>
    (await deleteRecordType(named, context)).deleteRecordType,
  relationship_type: async (named: Named, context: Context) =>
    (await deleteRelationshipType(named, context)).deleteRelationshipType,
}
const KINDS = ['base', 'record_type', 'relationship_type'] as const

export const definitionTool = accountTool('delete_definition', {
  title: 'Delete a base or a type',
  description: 'Delete a base or a type and everything in it. The first call returns a plan to confirm.',
  permission: 'manage',
  hints: { destructive: true },
  input: z.strictObject({ base_id: z.string(), kind: z.enum(KINDS), id: z.string(), ...deleting }),
  run: async ({ base_id, kind, id }, context) => deletedOr(await RUN[kind]({ base: base_id, id }, context)),
})

const otherBase = (base: string) =>
  invalid({
    path: '/id',
    code: 'disagrees',
    message: 'To delete a base, repeat its base_id in id.',
    expected: base,
  })
