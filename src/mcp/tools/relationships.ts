/** The tool link_records: creates and removes relationships. */
import { z } from 'zod'
import { trim } from '../../contract/response-bodies.ts'
import { invalid } from '../../foundation/errors.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { answerOutput } from '../tool/page-arguments.ts'
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

export const relationshipTools = [
  tool('link_records', {
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
    output: answerOutput,
    run: async (args, context) => {
      const ends = {
        relType: args.rel_type,
        sourceRecordType: args.source_record_type,
        sourceId: args.source_id,
        targetRecordType: args.target_record_type,
        targetId: args.target_id,
      }
      if (!args.remove) {
        const input = {
          ...ends,
          ...(args.data && { data: args.data }),
          ...(args.replace && { replace: true }),
        }
        return trim((await put({ base: args.base_id, input }, context)).putRelationship)
      }
      if (args.data) throw ofNothing('data')
      if (args.replace) throw ofNothing('replace')
      return trim((await remove({ base: args.base_id, ...ends }, context)).unlinkRecords)
    },
  }),
]

const ofNothing = (argument: string) =>
  invalid({
    path: `/${argument}`,
    code: 'exclusive',
    message: `${argument} cannot be sent with a removal. Leave it out.`,
  })
