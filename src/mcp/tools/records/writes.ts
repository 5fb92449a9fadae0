/** Tools that write records. */
import { z } from 'zod'
import { linkOf, trim, writtenBody } from '../../../contract/response-bodies.ts'
import { RecordLinks } from '../../../contract/shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import type { Context } from '../../../graphql/context.ts'
import { leanWritten } from '../../budget/lean.ts'
import { deletedOr } from '../../tool/approval.ts'
import { byName } from '../../tool/by-name.ts'
import { recordOutput } from '../../tool/page-arguments.ts'
import { deleting, tool, writing } from '../../tool/tool.ts'
import {
  cancel,
  claim,
  clear,
  clearing,
  create,
  data,
  expected,
  inType,
  lists,
  one,
  pair,
  patch,
  put,
  putByPair,
  remove,
} from './operations.ts'
import { readingTools } from './reads.ts'

const writingTools = [
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
    lean: leanWritten,
    run: upsertRecord,
  }),
  tool('update_record', {
    title: 'Update record',
    acceptsReadOnlyFields: true,
    description:
      'Merge data into a record; the rest stays. clear: names of properties to empty (null does too). append: {tags: [x]} and remove change lists.',
    permission: 'write',
    hints: { idempotent: true, destructive: true },
    showsRecords: true,
    input: z.strictObject({
      ...one,
      data: data.optional(),
      ...clear,
      ...lists,
      ...pair,
      ...expected,
      ...claim,
      ...writing,
    }),
    output: recordOutput,
    lean: leanWritten,
    run: async ({ data: sent, clear: emptied, ...args }, context) => {
      const merge = clearing(sent, emptied)
      return writtenBody((await patch(byName({ ...args, merge }), context)).patchRecord)
    },
  }),
  tool('cancel_record', {
    title: 'Cancel record',
    description: 'Set status to cancelled; it stays readable.',
    permission: 'write',
    hints: { idempotent: true, destructive: true },
    showsRecords: true,
    input: z.strictObject({ ...one, ...expected, ...claim, ...writing }),
    output: recordOutput,
    lean: leanWritten,
    run: async (args, context) => trim((await cancel(byName(args), context)).cancelRecord),
  }),
  tool('delete_record', {
    title: 'Delete record',
    description: 'A cascade returns a plan to confirm. Cancel keeps it.',
    permission: 'write',
    hints: { destructive: true },
    input: z.strictObject({ ...one, ...expected, ...claim, ...deleting }),
    run: async (args, context) => deletedOr((await remove(byName(args), context)).deleteRecord),
  }),
]

type Upsert = {
  base_id: string
  record_type: string
  data: Record<string, unknown>
  id?: string | undefined
  external_id?: string | undefined
  external_source?: string | undefined
  relationships?: Record<string, unknown>[] | undefined
  expected_version?: number | undefined
  claim_id?: string | undefined
  stated?: object
}

/** The links of a write. @throws VALIDATION_ERROR */
export const linksOf = ({ relationships = [] }: Pick<Upsert, 'relationships'>) =>
  check(RecordLinks, relationships, inBody('/relationships')).map(linkOf)

/** Upserts a record by id, by external id, or as a new record; shared with `upsert_<type>`. */
export async function upsertRecord(args: Upsert, context: Context): Promise<object> {
  const content = { ...byName(args), relationships: linksOf(args) }
  const mustExist = args.expected_version !== undefined
  if (args.id !== undefined)
    return writtenBody((await put({ ...content, mustExist, id: args.id }, context)).putRecord)
  if (args.external_id !== undefined)
    return writtenBody((await putByPair({ ...content, mustExist }, context)).putRecordByExternalId)
  if (args.expected_version !== undefined) throw nothingExpected('expected_version')
  const [stated] = Object.entries(args.stated ?? {}).find(([, value]) => value !== null) ?? []
  if (stated !== undefined) throw nothingExpected(stated)
  return writtenBody((await create(content, context)).createRecord)
}

const nothingExpected = (argument: string) =>
  invalid({
    path: `/${argument}`,
    code: 'not_conditional',
    message: `Without id and external_id a record is created, which has no ${argument.replace('expected_', '')} yet. Name the one you mean.`,
  })

export const recordTools = [...readingTools, ...writingTools]
