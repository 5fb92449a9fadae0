/** Tools that read records: query_records and get_record. */
import { z } from 'zod'
import { OPERATOR_NAMES } from '../../../contract/operators.ts'
import { rowsBody, trim } from '../../../contract/response-bodies.ts'
import { refuseForSource, storedOnly } from '../../../contract/source-arguments.ts'
import type { Context } from '../../../graphql/context.ts'
import { BY_OFFSET, ReadResult, recordUriIn } from '../../budget/read-result.ts'
import { byName } from '../../tool/by-name.ts'
import { pageArguments, pageOutput, recordOutput } from '../../tool/page-arguments.ts'
import { reading, tool } from '../../tool/tool.ts'
import { data, get, getSource, inType, list, listSource, names, one, withId } from './operations.ts'

/** What a read shows besides: the active claim of each record, or null. */
const include = { include: z.enum(['claim']).optional() }
const included = (part: 'claim' | undefined) => part && [part]

/** As in REST: the shorthand, which is published, or a list of terms. */
const sortArgument = z.unknown().optional().meta({ type: 'string' })

type SourceQuery = {
  base_id: string
  record_type: string
  fields?: string[] | undefined
  limit: number
  offset?: number | undefined
  include_total?: boolean | undefined
}

/** Reads a page of an external source. */
async function querySource(args: SourceQuery, source: string, context: Context): Promise<ReadResult> {
  const { base_id, record_type, fields, limit, offset, include_total = false, ...others } = args
  refuseForSource(source, storedOnly(others), '/')
  const asked = {
    base_id,
    record_type,
    source,
    fields: fields && withId(fields),
    limit,
    offset,
    include_total,
  }
  const { sourceRecords } = await listSource(byName(asked), context)
  return new ReadResult(rowsBody(sourceRecords), BY_OFFSET)
}

export const readingTools = [
  tool('query_records', {
    title: 'Query records',
    description: `Records that match. filter: {"field":"data.status","op":"eq","value":"open"}, {"and":[…]}, {"or":[…]} or {"not":{…}}; "customer.data.tier" tests linked records. op: ${OPERATOR_NAMES.join(' ')}. sort: "-data.amount,id". fields: ["data.name"]. expand: relationship types to follow. snippets: show what search found.`,
    permission: 'read',
    showsRecords: true,
    input: z.strictObject({
      ...inType,
      filter: data.optional(),
      sort: sortArgument,
      fields: names,
      expand: names,
      ...include,
      snippets: z.boolean().optional(),
      as_of: z.string().optional(),
      ...pageArguments,
      include_total: z.boolean().optional(),
      external_source: z.string().optional(),
      ...reading,
    }),
    output: pageOutput,
    run: async (args, context) => {
      if (args.external_source !== undefined) return querySource(args, args.external_source, context)
      const { include, fields, include_total = false, ...query } = args
      const asked = { ...query, include: included(include), fields: fields && withId(fields), include_total }
      const { records } = await list(byName(asked), context)
      return new ReadResult(rowsBody(records), {
        cursors: records.cursors,
        onward: 'Continue with cursor = meta.next_cursor, or request fewer fields.',
        uriOf: recordUriIn(args.base_id),
      })
    },
  }),
  tool('get_record', {
    title: 'Get record',
    description: 'Read a record, or what it was: version, as_of.',
    permission: 'read',
    showsRecords: true,
    input: z.strictObject({
      ...one,
      expand: names,
      ...include,
      version: z.int32().optional(),
      as_of: z.string().optional(),
      external_source: z.string().optional(),
      ...reading,
    }),
    output: recordOutput,
    run: async ({ expand, include, version, as_of, external_source: source, ...args }, context) => {
      if (source !== undefined) {
        refuseForSource(source, { expand, include, version, as_of }, '/')
        const { sourceRecord } = await getSource(byName({ ...args, source }), context)
        return new ReadResult(trim(sourceRecord))
      }
      const asked = { ...args, expand, include: included(include), version, as_of }
      const { record } = await get({ ...byName(asked), withClaim: include !== undefined }, context)
      // The URI is that of the present record.
      const isPast = version !== undefined || as_of !== undefined
      const { claim, ...shown } = record
      const body = { ...trim(shown), ...(include && { claim: claim && trim(claim) }) }
      return new ReadResult(body, isPast ? {} : { uriOf: recordUriIn(args.base_id) })
    },
  }),
]
