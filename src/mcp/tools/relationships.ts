/** The tool link_records: creates and removes relationships. */
import { z } from 'zod'
import { trim } from '../../contract/response-bodies.ts'
import { invalid } from '../../foundation/errors.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { byName } from '../tool/by-name.ts'
import { tool, writing } from '../tool/tool.ts'

const put = staticOperation(`mutation ToolLink($base: String!, $input: RelationshipInput!) {
  putRelationship(base: $base, input: $input) {
    id rel_type: relType source_record_type: sourceRecordType source_id: sourceId target_record_type: targetRecordType
    target_id: targetId data external_id: externalId external_source: externalSource version valid
    created_at: createdAt updated_at: updatedAt operation replaced dry_run: dryRun
  }
}`)
const remove =
  staticOperation(`mutation ToolUnlink($base: String!, $relType: String!, $sourceRecordType: String!, $sourceId: String!,
    $targetRecordType: String!, $targetId: String!) {
    unlinkRecords(base: $base, relType: $relType, sourceRecordType: $sourceRecordType, sourceId: $sourceId,
      targetRecordType: $targetRecordType, targetId: $targetId) { id deleted dry_run: dryRun }
  }`)

export const relationshipTool = tool('link_records', {
  title: 'Link records',
  description: 'Relate source to target; remove undoes it, replace moves a link of cardinality one.',
  permission: 'write',
  hints: { idempotent: true, destructive: true },
  showsRecords: true,
  input: z.strictObject({
    rel_type: z.string(),
    source_record_type: z.string(),
    source_id: z.string(),
    target_record_type: z.string(),
    target_id: z.string(),
    data: z.record(z.string(), z.unknown()).optional(),
    remove: z.boolean().optional(),
    replace: z.boolean().optional(),
    ...writing,
  }),
  run: async (args, context) => {
    const { data, remove: removes, replace, idempotency_key: _, dry_run: __, ...named } = args
    const { base, ...ends } = byName(named)
    if (!removes) {
      const input = { ...ends, ...(data && { data }), ...(replace && { replace }) }
      return trim((await put({ base, input }, context)).putRelationship)
    }
    if (data) throw ofNothing('data')
    if (replace) throw ofNothing('replace')
    return trim((await remove({ base, ...ends }, context)).unlinkRecords)
  },
})

const ofNothing = (argument: string) =>
  invalid({
    path: `/${argument}`,
    code: 'exclusive',
    message: `${argument} cannot be sent with a removal. Leave it out.`,
  })
