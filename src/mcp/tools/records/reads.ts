/** Tools that read records: query_records and get_record. */
import { z } from 'zod'
import { OPERATOR_NAMES } from '../../../contract/operators.ts'
import { rowsBody, trim } from '../../../contract/response-bodies.ts'
import { ReadResult, recordUriIn } from '../../budget/read-result.ts'
import { pageArguments, pageOf, pageOutput, recordOutput } from '../../tool/page-arguments.ts'
import { reading, tool } from '../../tool/tool.ts'
import { data, get, inType, list, names, one, target, withId } from './operations.ts'

/** As in REST: the shorthand, which is published, or a list of terms. */
const sortArgument = z.unknown().optional().meta({ type: 'string' })

export const readingTools = [
  tool('query_records', {
    title: 'Query records',
    description: `Records that match. filter: {"field":"data.status","op":"eq","value":"open"}, {"and":[…]}, {"or":[…]} or {"not":{…}}; "customer.data.tier" tests linked records. op: ${OPERATOR_NAMES.join(' ')}. sort: "-data.amount,id". fields: ["data.name"]. expand: relationship types to follow. snippets: show what search found.`,
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({
      ...inType,
      filter: data.optional(),
      sort: sortArgument,
      fields: names,
      expand: names,
      snippets: z.boolean().optional(),
      as_of: z.string().optional(),
      ...pageArguments,
      include_total: z.boolean().optional(),
      ...reading,
    }),
    output: pageOutput,
    run: async ({ base_id, record_type, include_total, limit, offset, cursor, ...query }, context) => {
      const { filter, sort, fields, expand, snippets, as_of } = query
      const asked = {
        base: base_id,
        recordType: record_type,
        ...(filter && { filter }),
        ...(sort !== undefined && { sort }),
        ...(fields && { fields: withId(fields) }),
        ...(expand && { expand }),
        ...(snippets !== undefined && { snippets }),
        ...(as_of !== undefined && { asOf: as_of }),
        ...pageOf({ limit, offset, cursor }),
        includeTotal: include_total ?? false,
      }
      const { records } = await list(asked, context)
      return new ReadResult(rowsBody(records), {
        cursors: records.cursors,
        onward: 'Continue with cursor = meta.next_cursor, or request fewer fields.',
        uriOf: recordUriIn(base_id),
      })
    },
  }),
  tool('get_record', {
    title: 'Get record',
    description: 'Read a record, or what it was: version, as_of.',
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({
      ...one,
      expand: names,
      version: z.int32().optional(),
      as_of: z.string().optional(),
      ...reading,
    }),
    output: recordOutput,
    run: async ({ expand, version, as_of, ...args }, context) => {
      const asked = {
        ...(expand && { expand }),
        ...(version !== undefined && { version }),
        ...(as_of !== undefined && { asOf: as_of }),
      }
      const { record } = await get({ ...target(args), ...asked }, context)
      // The URI is that of the present record.
      const isPast = version !== undefined || as_of !== undefined
      return new ReadResult(trim(record), isPast ? {} : { uriOf: recordUriIn(args.base_id) })
    },
  }),
]
