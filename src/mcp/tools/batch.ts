/** The tool batch: many operations in one transaction. */
import { z } from 'zod'
import { graphql } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import { deletedOr, ToolPlan } from '../tool/deletion-approval.ts'
import { answerOutput } from '../tool/page-arguments.ts'
import { deleting, tool } from '../tool/tool.ts'

const run = compile(
  graphql(
    `mutation ToolBatch($base: String!, $operations: JSON!) {
      batch(base: $base, operations: $operations) {
        rows(records: false) count dry_run: dryRun plan { ...ToolPlan }
      }
    }`,
    [ToolPlan],
  ),
)

/** The engine validates the operations, after it has checked their number. */
const operations = z
  .custom<readonly object[]>((value) => Array.isArray(value), 'It is a list of operations.')
  .meta({ type: 'array', items: { type: 'object' } })

export const batchTools = [
  tool('batch', {
    title: 'Batch',
    description:
      'Atomic: {type: upsert_record, record_type, id, data}; create_, patch_, delete_record; upsert_relationship. id {$ref: x}: one named x.',
    permission: 'write',
    hints: { destructive: true },
    input: z.strictObject({
      operations,
      ...deleting,
    }),
    output: answerOutput,
    run: async ({ base_id, operations }, context) => {
      const { rows, count, dry_run, plan } = (await run({ base: base_id, operations }, context)).batch
      return deletedOr({ plan, data: rows, meta: { count }, dry_run })
    },
  }),
]
