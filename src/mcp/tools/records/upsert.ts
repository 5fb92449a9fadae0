import { linkOf, trim } from '../../../contract/response-bodies.ts'
import { RecordLinks } from '../../../contract/shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import type { Context } from '../../../graphql/context.ts'
import { claimOf, pairOf, statedOf, versions } from './arguments.ts'
import { create, put, putByPair } from './operations.ts'

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

/** Upserts a record by id, by external id, or as a new record; shared with `upsert_<type>`. */
export async function upsertRecord(args: Upsert, context: Context): Promise<object> {
  const links = check(RecordLinks, args.relationships ?? [], inBody('/relationships')).map(linkOf)
  const content = {
    base: args.base_id,
    recordType: args.record_type,
    data: args.data,
    ...pairOf(args),
    relationships: links,
  }
  const mustExist = args.expected_version !== undefined
  const when = { ...versions(args), ...claimOf(args), ...statedOf(args), mustExist }
  if (args.id !== undefined) return trim((await put({ ...content, ...when, id: args.id }, context)).putRecord)
  if (args.external_id !== undefined)
    return trim((await putByPair({ ...content, ...when }, context)).putRecordByExternalId)
  if (args.expected_version !== undefined) throw nothingExpected('expected_version')
  const [stated] = Object.entries(args.stated ?? {}).find(([, value]) => value !== null) ?? []
  if (stated !== undefined) throw nothingExpected(stated)
  return trim((await create(content, context)).createRecord)
}

const nothingExpected = (argument: string) =>
  invalid({
    path: `/${argument}`,
    code: 'not_conditional',
    message: `Without id and external_id a record is created, which has no ${argument.replace('expected_', '')} yet. Name the one you mean.`,
  })
