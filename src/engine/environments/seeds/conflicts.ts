/** What keeps a seed from its rows: they would touch rows that it does not own. */
import { DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { lockCascade } from '../../configuration/cascade/find-cascade.ts'
import { endKey, type SeedRows } from '../../configuration/seeds/index.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Outcome } from '../../records/batch/run-batch.ts'
import { lockLinks } from '../../records/batch/write-links.ts'
import { findLinksBetween } from '../../records/relationships/index.ts'
import { type OwnedRecord, sourceOf } from './owned-rows.ts'

/**
 * Checks the deletion of owned records: a relationship type may cascade to others.
 * @throws CONFLICT with these
 */
export async function refuseCascade(
  { db }: WriteScope,
  baseId: string,
  going: readonly OwnedRecord[],
  owned: readonly OwnedRecord[],
): Promise<void> {
  if (going.length === 0) return
  const own = new Set(owned.map(({ rowNo }) => rowNo))
  const all = await lockCascade(
    db,
    baseId,
    going.map(({ rowNo }) => rowNo),
  )
  const foreign = all.filter(({ rowNo }) => !own.has(rowNo))
  if (foreign.length === 0) return
  const message = `${foreign.length} records that the seed does not own would be deleted too, by relationships that cascade. Unlink them first.`
  throw oneFault('CONFLICT', message, {
    path: '',
    code: 'not_owned',
    count: foreign.length,
    samples: foreign.slice(0, LIMITS.samples).map(({ recordType, id }) => ({ record_type: recordType, id })),
  })
}

/**
 * Checks the links of the seed: others may have linked its records in the same way.
 * @throws CONFLICT with these links
 */
export async function refuseForeignLinks(
  scope: WriteScope,
  baseId: string,
  seedId: string,
  { records, relationships }: SeedRows,
  outcomes: ReadonlyMap<number, Outcome>,
): Promise<void> {
  const ids = new Map(records.map((record, n) => [endKey(record), outcomes.get(n)?.id ?? '']))
  const found = await findLinksBetween(
    scope,
    baseId,
    relationships.map(({ rel_type, source, target }) => ({
      relType: rel_type,
      sourceRecordType: source.record_type,
      sourceId: ids.get(endKey(source)) ?? '',
      targetRecordType: target.record_type,
      targetId: ids.get(endKey(target)) ?? '',
    })),
  )
  const there = found.filter((id) => id !== null)
  const rows = there.length > 0 ? await lockLinks(scope, baseId, there) : []
  const foreign = rows.filter(({ external_source }) => external_source !== sourceOf(seedId))
  if (foreign.length === 0) return
  throw new DomainError(
    'CONFLICT',
    `${foreign.length} relationships of the seed exist already, and it does not own them. Nothing was written.`,
    {
      details: foreign.map(({ id }) => ({
        path: `/relationships/${found.indexOf(id)}`,
        code: 'not_owned',
        message: `Relationship "${id}" links the same records. Delete it, or take it out of the seed.`,
        received: id,
      })),
    },
  )
}
