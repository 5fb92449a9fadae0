import { unknownName } from '../../../contract/suggest.ts'
import { type Detail, type DomainError, invalid } from '../../../foundation/errors.ts'
import { findType } from '../../core/load-type.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { recordNotFound } from '../../data/ledger/record.ts'
import type { FoundLink } from '../../data/ledger/relationship-statements.ts'
import { namedTypes } from '../../storage/access/access.ts'
import { statement } from '../../storage/database/client.ts'
import { within } from './ends.ts'
import type { LinkEnd, LinkWrite } from './link.ts'

/** Creates the error for a link with an absent end. */
export async function missingEnds(
  scope: Scope,
  baseId: string,
  link: LinkWrite,
  found: FoundLink,
): Promise<DomainError> {
  const faults: Detail[] = []
  if (found.source_row === null) faults.push(await missingEnd(scope, baseId, link.source, 'source'))
  if (found.target_row === null) faults.push(await missingEnd(scope, baseId, link.target, 'target'))
  return invalid(...(faults as [Detail, ...Detail[]]))
}

async function missingEnd(
  scope: Scope,
  baseId: string,
  end: LinkEnd,
  side: 'source' | 'target',
): Promise<Detail> {
  const { recordType } = end
  if (!(await findType(scope, baseId, recordType))) return unknownRecordType(scope, baseId, recordType, side)
  const id = 'id' in end ? end.id : end.externalId
  const name = 'id' in end ? `"${id}"` : `with external_id "${id}" of source "${end.externalSource}"`
  const meant = 'id' in end ? await idOfPair(scope, baseId, recordType, id) : undefined
  if (meant !== undefined)
    return {
      path: `/${side}_id`,
      code: 'unknown_record',
      message: `"${id}" is an external_id; its id is "${meant}". Send the id.`,
      received: id,
      hint: meant,
    }
  return {
    path: `/${side}_id`,
    code: 'unknown_record',
    message: `There is no record ${name} of type "${recordType}" to be the ${side}. Create it first.`,
    received: id,
  }
}

const ID_OF_PAIR = statement(
  'id_of_external_id',
  `SELECT id FROM plinth.record
   WHERE base_id = $1 AND record_type = $2 AND external_source = 'default' AND external_id = $3`,
)

/** The id of the record with this external id, if the caller may read it. */
async function idOfPair(
  scope: Scope,
  baseId: string,
  recordType: string,
  externalId: string,
): Promise<string | undefined> {
  if (!rightsOf(scope).allows('read', baseId, recordType)) return undefined
  const [row] = await scope.db.query<{ id: string }>(ID_OF_PAIR, [baseId, recordType, externalId])
  // Asked also where there is none, so that the time does not tell of a record out of sight.
  const id = row?.id ?? ''
  return (await within(scope, baseId, recordType, [id])).has(id) ? row?.id : undefined
}

/** The error for an absent record, with its id where the external id was sent. */
export const absentRecord = async (
  scope: Scope,
  baseId: string,
  recordType: string,
  id: string,
): Promise<DomainError> => recordNotFound(recordType, id, await idOfPair(scope, baseId, recordType, id))

const TYPE_IDS = statement(
  'record_types_of_ends',
  `SELECT id FROM plinth.record_type
   WHERE base_id = $1 AND ($2::text[] IS NULL OR id = ANY ($2)) ORDER BY id LIMIT 1000`,
)

async function unknownRecordType(
  scope: Scope,
  baseId: string,
  recordType: string,
  side: 'source' | 'target',
): Promise<Detail> {
  const rows = await scope.db.query<{ id: string }>(TYPE_IDS, [
    baseId,
    namedTypes(rightsOf(scope), 'write', baseId),
  ])
  return {
    path: `/${side}_record_type`,
    code: 'unknown_record_type',
    message: `There is no record type "${recordType.slice(0, 64)}".`,
    ...unknownName(
      recordType,
      rows.map(({ id }) => id),
    ),
  }
}
