/** Tools that write records. */
import { z } from 'zod'
import { trim } from '../../../contract/response-bodies.ts'
import { deletedOr } from '../../tool/deletion-approval.ts'
import { answerOutput, recordOutput } from '../../tool/page-arguments.ts'
import { deleting, tool, writing } from '../../tool/tool.ts'
import {
  claim,
  claimOf,
  data,
  expected,
  inType,
  one,
  pair,
  pairOf,
  statedOf,
  target,
  versions,
} from './arguments.ts'
import { cancel, patch, remove } from './operations.ts'
import { upsertRecord } from './upsert.ts'

export const writingTools = [
  tool('upsert_record', {
    title: 'Upsert record',
    acceptsReadOnlyFields: true,
    description:
      'Replace or create a record, by id or external_id (its id elsewhere); without either, create. relationships adds links: [{rel_type, record_type, id}].',
    permission: 'write',
    // Not idempotent: without id and external_id, each call creates a record.
    hints: { destructive: true },
    showsRecords: true,
    input: z.strictObject({
      ...inType,
      id: z.string().optional(),
      data,
      ...pair,
      // Described in one line: the full schema would cost more tokens than the rest of the tool.
      relationships: z.array(data).optional(),
      ...expected,
      ...claim,
      ...writing,
    }),
    output: recordOutput,
    run: upsertRecord,
  }),
  tool('update_record', {
    title: 'Update record',
    acceptsReadOnlyFields: true,
    description: 'Merge data into a record: null clears a property, the rest stays.',
    permission: 'write',
    hints: { idempotent: true, destructive: true },
    showsRecords: true,
    input: z.strictObject({ ...one, data: data.optional(), ...pair, ...expected, ...claim, ...writing }),
    output: recordOutput,
    run: async (args, context) =>
      trim(
        (
          await patch(
            {
              ...target(args),
              ...(args.data && { merge: args.data }),
              ...pairOf(args),
              ...versions(args),
              ...claimOf(args),
              ...statedOf(args),
            },
            context,
          )
        ).patchRecord,
      ),
  }),
  tool('cancel_record', {
    title: 'Cancel record',
    description: 'Set status to cancelled; it stays readable.',
    permission: 'write',
    hints: { idempotent: true, destructive: true },
    showsRecords: true,
    input: z.strictObject({ ...one, ...expected, ...claim, ...writing }),
    output: recordOutput,
    run: async (args, context) =>
      trim((await cancel({ ...target(args), ...versions(args), ...claimOf(args) }, context)).cancelRecord),
  }),
  tool('delete_record', {
    title: 'Delete record',
    description: 'A cascade returns a plan to confirm. Cancel keeps it.',
    permission: 'write',
    hints: { destructive: true },
    input: z.strictObject({ ...one, ...expected, ...claim, ...deleting }),
    output: answerOutput,
    run: async (args, context) =>
      deletedOr(
        (await remove({ ...target(args), ...versions(args), ...claimOf(args) }, context)).deleteRecord,
      ),
  }),
]
