import { z } from 'zod'
import { rowsBody, trim } from '../../bodies.ts'
import { OPERATOR_NAMES } from '../../operators.ts'
import { Reading, recordUriIn } from '../reading.ts'
import { pageArguments, pageOf, pageOutput, recordOutput } from '../shapes.ts'
import { reading, tool } from '../tool.ts'
import { data, inType, names, one, target } from './arguments.ts'
import { get, list } from './operations.ts'

export const readingTools = [
  tool('query_records', {
    title: 'Query records',
    description: `List records of a type that match. filter: {"field":"data.status","op":"eq","value":"open"}, or {"and":[…]}, {"or":[…]}, {"not":{…}}. Operators: ${OPERATOR_NAMES.join(' ')}. "data.items[].sku" is any element; search takes words and forgives typos.`,
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({
      ...inType,
      filter: data.optional(),
      sort: z.string().optional().meta({ description: '"-data.amount,id"' }),
      fields: names.meta({ description: 'What to show: "data.name".' }),
      expand: names.meta({ description: 'Relationship types to follow.' }),
      ...pageArguments,
      include_total: z.boolean().optional(),
      ...reading,
    }),
    output: pageOutput,
    run: async ({ base_id, record_type, include_total, limit, offset, cursor, ...query }, context) => {
      const { filter, sort, fields, expand } = query
      const asked = {
        base: base_id,
        recordType: record_type,
        ...(filter && { filter }),
        ...(sort !== undefined && { sort }),
        ...(fields && { fields }),
        ...(expand && { expand }),
        ...pageOf({ limit, offset, cursor }),
        includeTotal: include_total ?? false,
      }
      const { records } = await list(asked, context)
      return new Reading(rowsBody(records), {
        cursors: records.cursors,
        onward: 'Go on with cursor = meta.next_cursor, or name fewer fields.',
        uriOf: recordUriIn(base_id),
      })
    },
  }),
  tool('get_record', {
    title: 'Get a record',
    description: 'Read one record by its id.',
    permission: 'read',
    hints: { idempotent: true },
    showsRecords: true,
    input: z.strictObject({ ...one, expand: names, ...reading }),
    output: recordOutput,
    run: async ({ expand, ...args }, context) => {
      const { record } = await get({ ...target(args), ...(expand && { expand }) }, context)
      return new Reading(trim(record), { uriOf: recordUriIn(args.base_id) })
    },
  }),
]
