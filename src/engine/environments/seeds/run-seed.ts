/** Applies, resets and clears a seed, in one transaction. It owns the rows with its external_source. */
import { DomainError, invalid, withPaths } from '../../../foundation/errors.ts'
import { openIdentityMap } from '../../configuration/lifecycle/identity-map.ts'
import { missing, requireManage } from '../../configuration/lifecycle/read.ts'
import { unknownReferences } from '../../configuration/lifecycle/references.ts'
import { endKey, linkKey, rowFaults, SEED, type SeedRows } from '../../configuration/seeds/index.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { SEED_CAUSE, setCause } from '../../log/entry.ts'
import type { DataOperation } from '../../records/batch/operation.ts'
import { type Outcome, withinBudget } from '../../records/batch/run-batch.ts'
import { runData } from '../../records/batch/run-data.ts'
import { uncancel } from '../../records/cancel.ts'
import { deleteRecords } from '../../records/cascade-delete.ts'
import { deleteLinks } from '../../records/relationships/index.ts'
import { statement } from '../../storage/database/client.ts'
import { refuseCascade, refuseForeignLinks } from './conflicts.ts'
import { linkIdOf, linkUpserts, recordUpserts } from './operations.ts'
import { findOwned, type OwnedLink, type OwnedRecord, sourceOf } from './owned-rows.ts'

/** What a run has done, in numbers of rows. */
export type SeedRun = { id: string; records: Counts; relationships: Counts }
type Counts = Record<Outcome['operation'], number>

type Run = {
  readonly scope: WriteScope
  readonly baseId: string
  readonly seedId: string
  readonly rows: SeedRows
  readonly outcomes: Map<number, Outcome>
  readonly deleted: { records: number; relationships: number }
  write(operations: readonly DataOperation[]): Promise<void>
}

// Waits for writers of configuration, and keeps them out, so that the types stay as they were checked.
const LOCK_BASE = statement('lock_base_of_seed', 'SELECT 1 AS one FROM plinth.base WHERE id = $1 FOR SHARE')
// Runs of one seed follow each other.
const LOCK_SEED = statement(
  'lock_seed',
  'SELECT records, relationships FROM plinth.seed WHERE base_id = $1 AND id = $2 FOR NO KEY UPDATE',
)

/**
 * Upserts the rows of the seed. Rows that it no longer declares stay.
 * @throws FORBIDDEN, also on a production base; NOT_FOUND; VALIDATION_ERROR when a row does not fit its type; CONFLICT
 */
export const applySeed = (scope: WriteScope, baseId: string, seedId: string): Promise<SeedRun> =>
  run(scope, baseId, seedId, upsert)

/**
 * Brings the rows that the seed owns to what it declares: edited, cancelled and deleted ones back, others away.
 * @throws as applySeed; CONFLICT when a deletion would cascade to rows that it does not own
 */
export const resetSeed = (scope: WriteScope, baseId: string, seedId: string): Promise<SeedRun> =>
  run(scope, baseId, seedId, async (running) => {
    const owned = await findOwned(running.scope.db, baseId, seedId)
    const { hasRecord, hasLink } = declaredIn(running)
    const records = owned.records.filter((record) => !hasRecord(record))
    await remove(running, { records, links: owned.links.filter((link) => !hasLink(link)) }, owned.records)
    const cancelled = owned.records.filter((record) => record.isCancelled && hasRecord(record))
    for (const { recordType, id } of cancelled)
      await uncancel(running.scope, [baseId, recordType, id], NO_EXPECTATION)
    await upsert(running)
    const back = new Set(cancelled.map(({ id }) => id))
    for (const [index, outcome] of running.outcomes)
      if (outcome.operation === 'unchanged' && back.has(outcome.id))
        running.outcomes.set(index, { ...outcome, operation: 'updated' })
  })

/**
 * Deletes the rows that the seed owns. The seed stays.
 * @throws as resetSeed
 */
export const clearSeed = (scope: WriteScope, baseId: string, seedId: string): Promise<SeedRun> =>
  run(scope, baseId, seedId, async (running) => {
    const owned = await findOwned(running.scope.db, baseId, seedId)
    await remove(running, owned, owned.records)
  })

async function run(
  scope: WriteScope,
  baseId: string,
  seedId: string,
  work: (running: Run) => Promise<void>,
): Promise<SeedRun> {
  const target = { kind: SEED, scope, baseId, id: seedId }
  requireManage(target)
  return withinBudget(scope, (openBudget) =>
    scope.db.transaction(async (tx) => {
      await tx.query(LOCK_BASE, [baseId])
      await setCause(tx, `${SEED_CAUSE}${seedId}`)
      const [rows] = await tx.query<SeedRows>(LOCK_SEED, [baseId, seedId])
      if (!rows) throw await missing(target)
      const within: WriteScope = { ...scope, db: tx, via: 'seed' }
      const outcomes = new Map<number, Outcome>()
      const budget = openBudget()
      const write = async (operations: readonly DataOperation[]) => {
        if (operations.length === 0) return
        await runData(within, baseId, operations, new Map(), outcomes, budget).catch((thrown: unknown) => {
          throw atRow(thrown, rows)
        })
      }
      const deleted = { records: 0, relationships: 0 }
      await work({ scope: within, baseId, seedId, rows, outcomes, deleted, write })
      const done = [...outcomes.values()]
      return {
        id: seedId,
        records: countsOf(
          done.filter(({ type }) => type === 'upsert_record'),
          deleted.records,
        ),
        relationships: countsOf(
          done.filter(({ type }) => type !== 'upsert_record'),
          deleted.relationships,
        ),
      }
    }),
  )
}

function countsOf(outcomes: readonly Outcome[], deleted: number): Counts {
  const counts = { created: 0, updated: 0, unchanged: 0, deleted }
  for (const { operation } of outcomes) counts[operation]++
  return counts
}

async function upsert({ scope, baseId, seedId, rows, outcomes, write }: Run): Promise<void> {
  const loaded = openIdentityMap(scope, baseId)
  const unknown = await unknownReferences(SEED, loaded, {
    ...SEED.defaults(seedId),
    records: [...rows.records],
    relationships: [...rows.relationships],
  })
  const [fault, ...more] = [...unknown, ...(await rowFaults(loaded, rows))]
  if (fault) throw invalid(fault, ...more)
  await write(recordUpserts(seedId, rows, scope.limits))
  await refuseForeignLinks(scope, baseId, seedId, rows, outcomes)
  await write(linkUpserts(seedId, rows))
}

type Rows = { records: readonly OwnedRecord[]; links: readonly OwnedLink[] }

/** Deletes the rows: relationships first, so that none of them restricts or cascades. */
async function remove(
  { scope, baseId, deleted }: Run,
  { records, links }: Rows,
  owned: readonly OwnedRecord[],
): Promise<void> {
  const ids = links.map(({ id }) => id)
  deleted.relationships = ids.length > 0 ? (await deleteLinks(scope, baseId, ids)).length : 0
  if (records.length === 0) return
  await refuseCascade(scope, baseId, records, owned)
  const targets = records.map(({ recordType, id }) => ({ recordType, id, expected: NO_EXPECTATION }))
  await deleteRecords(scope, baseId, targets).catch((thrown: unknown) => {
    // The index of a target says nothing to the caller.
    throw withPaths(thrown, () => '')
  })
  deleted.records = records.length
}

/** Whether the seed declares an owned row as it is. */
function declaredIn({ seedId, rows: { records, relationships } }: Run) {
  const declaredRecords = new Set(records.map(endKey))
  const links = new Set(relationships.map(linkKey))
  const isOwn = ({ external_source }: OwnedLink['source']) => external_source === sourceOf(seedId)
  const hasLink = ({ relType, externalId, source, target }: OwnedLink) => {
    const end = ({ record_type, external_id }: OwnedLink['source']) => ({
      record_type,
      external_id: external_id ?? '',
    })
    const link = { rel_type: relType, source: end(source), target: end(target) }
    return isOwn(source) && isOwn(target) && links.has(linkKey(link)) && externalId === linkIdOf(link)
  }
  const hasRecord = ({ recordType, externalId }: OwnedRecord) =>
    declaredRecords.has(endKey({ record_type: recordType, external_id: externalId }))
  return { hasRecord, hasLink }
}

/** Moves a failure of an operation to the row of the seed that it writes. */
function atRow(thrown: unknown, { records }: SeedRows): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const placeOf = (index: number) =>
    index < records.length ? `/records/${index}` : `/relationships/${index - records.length}`
  const details = thrown.details.map((detail) => ({
    ...detail,
    path: detail.path
      .replace(/^\/operations\/(\d+)/, (_, index: string) => placeOf(Number(index)))
      .replace(/_id$/, ''),
  }))
  const message = thrown.message.replace(/^Operation \d+: /, '')
  return new DomainError(thrown.code, message, { details, cause: thrown })
}
