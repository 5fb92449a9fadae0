/** The tool batch: many operations in one transaction. */
import { z } from 'zod'
import { staticOperation } from '../../graphql/execute.ts'
import { DeletionParts, PlanParts } from '../../http/deletion-plan-fragment.ts'
import { deletedOr } from '../tool/approval.ts'
import { deleting, tool } from '../tool/tool.ts'

const run = staticOperation(
  `mutation ToolBatch($base: String!, $operations: JSON!) {
    batch(base: $base, operations: $operations) {
      rows(records: false) count requestId warnings dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts }
    }
  }`,
  [DeletionParts, PlanParts],
)

/** The engine validates the operations, after it has checked their number. */
const operations = z
  .custom<readonly object[]>((value) => Array.isArray(value), 'operations must be a list of operations.')
  .meta({ type: 'array', items: { type: 'object' } })

/** The operations with their arguments. */
const GRAMMAR = `All or none, in order. Each is {type, …}:
upsert_record {record_type, id or external_id, data, relationships?, on_existing?: keep}
create_record {record_type, data, id?, external_id?, relationships?}
patch_record {record_type, id, data?, append?, remove?}
delete_record, cancel_record {record_type, id}
upsert_relationship {rel_type, source_record_type, source_id, target_record_type, target_id, data?, replace?}
delete_relationship {id} or its type and ends
upsert_record_type, upsert_relationship_type {id, body}; delete_… {id}
Records take external_source, claim_id; all expected_version. An id is {$ref: x} after an operation with name: x.`

export const batchTool = tool('batch', {
  title: 'Batch',
  description: GRAMMAR,
  permission: 'write',
  hints: { destructive: true },
  input: z.strictObject({
    operations,
    ...deleting,
  }),
  run: async ({ base_id, operations }, context) => {
    const { rows, count, requestId, warnings, ...done } = (await run({ base: base_id, operations }, context))
      .batch
    const meta = {
      count,
      ...(requestId !== null && { request_id: requestId }),
      ...(warnings && { warnings }),
    }
    return deletedOr({ data: rows, meta, ...done })
  },
})
