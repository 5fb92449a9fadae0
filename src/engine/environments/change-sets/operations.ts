/** Writes merged drafts to production, as operations of the batch. */
import { isDeepStrictEqual } from 'node:util'
import { type Detail, DomainError, oneFault, restated, withPaths } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { NO_EXPECTATION } from '../../core/write/preconditions.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type Becoming, hasUnique, releaseUnique } from '../../data/indexes/index.ts'
import { runBatches } from '../../records/batch/run-batch.ts'
import { restoreRecord } from '../../records/index.ts'
import { type Document, nameOf, typeIfThere } from './drafts.ts'
import type { Merged, Resolutions } from './merge.ts'

/** An operation of the batch, and the draft that it is of. */
type Placed = {
  readonly merged: Merged
  readonly operation: object
  /** Whether it may only create: where another one is there, the batch updates that. */
  readonly creates?: boolean
}

/**
 * Applies merged drafts: what goes first, links before records, then what comes and stays, records before links.
 * @throws CONFLICT with the path of the draft that production refuses, or where a deletion takes more with it than was reviewed
 */
export async function applyDrafts(
  scope: WriteScope,
  baseId: string,
  all: readonly Merged[],
  { mayGrow }: Pick<Resolutions, 'mayGrow'>,
): Promise<void> {
  const of = (kind: 'record' | 'relationship') => all.filter(({ draft }) => draft.kind === kind)
  const [records, links] = [of('record'), of('relationship')]
  const deletions = records.filter(isDeleted)
  const remade = new Set(records.filter(isRemade).map(({ draft }) => nameOf(draft)))
  await run(scope, baseId, links.filter(goes).map(deleteLink))
  await runDeletions(
    scope,
    baseId,
    deletions,
    deletions.some(({ draft }) => mayGrow(draft)),
  )
  const rewritten = records.flatMap(({ draft, before, after }) =>
    before && after ? [{ type: draft.type, id: draft.id, after }] : [],
  )
  await releaseValues(scope, baseId, rewritten)
  await run(scope, baseId, records.flatMap(writeRecord))
  await run(scope, baseId, records.filter(isCancelled).map(cancelRecord))
  for (const { draft } of records.filter(isRestored))
    await restoreRecord(scope, [baseId, draft.type, draft.id], NO_EXPECTATION)
  await run(
    scope,
    baseId,
    links.flatMap((link) => writeLink(link, remade)),
  )
}

/** A record may take the unique value that another one gives up with it, whichever is written first. */
export async function releaseValues(
  scope: Scope,
  baseId: string,
  records: readonly (Becoming & { readonly type: string })[],
): Promise<void> {
  for (const [type, ofType] of Map.groupBy(records, (each) => each.type)) {
    const found = await typeIfThere(scope, baseId, type)
    if (found && hasUnique(found)) await releaseUnique(scope.db, baseId, type, ofType)
  }
}

async function run(scope: WriteScope, baseId: string, all: readonly Placed[]): Promise<void> {
  const size = LIMITS.batchOperations
  const parts = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
    all.slice(n * size, (n + 1) * size),
  )
  const batches = parts.map((part) => part.map(({ operation }) => operation))
  let n = 0
  try {
    for await (const { data } of runBatches(scope, baseId, batches)) {
      const there = data.flatMap(({ index, operation }) => {
        const placed = parts[n]?.[index]
        return placed?.creates && operation !== 'created' ? [linkThere(placed.merged.draft.id)] : []
      })
      if (there.length > 0) throw isThere(there)
      n++
    }
  } catch (thrown) {
    throw atDrafts(thrown, parts[n] ?? [])
  }
}

export const linkThere = (id: string): Detail => ({
  path: `/${id}`,
  code: 'exists',
  message:
    'Production has a relationship of this type between the two records by now. Discard the change, or write to that one.',
})

export const isThere = (details: readonly Detail[]): DomainError => {
  const message = 'Production has what the change-set creates by now. Nothing was promoted.'
  return new DomainError('CONFLICT', message, { details })
}

/** A conflict of what production refuses by now: at `/deal/d1/data` in place of `/operations/3/data`, at `/deal/d1` in place of its id. */
function atDrafts(thrown: unknown, part: readonly Placed[]): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const nameAt = (n: string) => {
    const placed = part[Number(n)]
    return placed && nameOf(placed.merged.draft)
  }
  const message = thrown.message.replace(/^Operation (\d+)(?=: )/, (same, n) => nameAt(n) ?? same)
  const code = /^(VALIDATION_ERROR|NOT_FOUND)$/.test(thrown.code) ? 'CONFLICT' : thrown.code
  return withPaths(restated(thrown, { code, message }), (path) =>
    path.replace(/^\/operations\/(\d+)(\/id$)?/, (same, n) => (nameAt(n) ? `/${nameAt(n)}` : same)),
  )
}

/** Deletes records, and nothing that the change-set does not delete. Which of them may grow is checked before, under their locks. */
async function runDeletions(
  scope: WriteScope,
  baseId: string,
  deletions: readonly Merged[],
  mayGrow: boolean,
): Promise<void> {
  let count = 0
  const counting: WriteScope = {
    ...scope,
    onDeletion: ({ records, links }) => {
      for (const each of [...records.values(), ...links.values()]) count += each
    },
  }
  await run(counting, baseId, deletions.map(deleteRecord))
  if (count > deletions.length && !mayGrow) throw grown(count - deletions.length)
}

const grown = (more: number): DomainError => {
  const message = `The deletions take ${more} more records or relationships of production with them than the change-set deletes. Delete these records there again, or send force.`
  return oneFault('CONFLICT', message, { path: '/from', code: 'cascade_grew' })
}

const keyOf = ({ draft }: Merged) => ({ record_type: draft.type, id: draft.id })

const deleteRecord = (merged: Merged): Placed => ({
  merged,
  operation: { type: 'delete_record', ...keyOf(merged) },
})
const cancelRecord = (merged: Merged): Placed => ({
  merged,
  operation: { type: 'cancel_record', ...keyOf(merged) },
})
const deleteLink = (merged: Merged): Placed => ({
  merged,
  operation: { type: 'delete_relationship', id: merged.draft.id },
})

const isCancelled = ({ before, after }: Merged) =>
  after?.['status'] === 'cancelled' && before?.['status'] !== 'cancelled'
const isRestored = ({ before, after }: Merged) =>
  before?.['status'] === 'cancelled' && after?.['status'] === 'active'

/** A record loses its pair only by being deleted, and made again without it. */
export const isRemade = ({ before, after }: Merged) =>
  after !== null && after['external_id'] === null && typeof before?.['external_id'] === 'string'

const goes = ({ before, after }: Merged) => before !== null && after === null
/** Whether the merge deletes what production has, be it to make it again. */
export const isDeleted = (merged: Merged) => goes(merged) || isRemade(merged)

/** The pair of a document, if it has one that the row has not. */
export function pairOf(after: Document, before: Document | null): object {
  const { external_id, external_source } = after
  const isSame = before?.['external_id'] === external_id && before?.['external_source'] === external_source
  return external_id === null || isSame ? {} : { external_id, external_source }
}

function writeRecord(merged: Merged): Placed[] {
  const { after } = merged
  const before = isRemade(merged) ? null : merged.before
  if (after === null) return []
  const pair = pairOf(after, before)
  if (before && isDeepStrictEqual(before.data, after.data) && Object.keys(pair).length === 0) return []
  // An upsert would write over another record that has its pair since.
  const type = before ? 'upsert_record' : 'create_record'
  return [{ merged, operation: { type, ...keyOf(merged), data: after.data, ...pair } }]
}

/** Writes a link, also as it was where the deletion of an end took it. */
function writeLink(merged: Merged, remade: ReadonlySet<string>): Placed[] {
  const { draft, after } = merged
  const ends = after ? endNames(after) : []
  const before = ends.some((end) => remade.has(end)) ? null : merged.before
  if (after === null || isDeepStrictEqual(before, after)) return []
  const operation = {
    ...{ type: 'upsert_relationship', id: draft.id, ...endsOf(after), data: after.data },
    ...pairOf(after, before),
  }
  return [{ merged, operation, creates: before === null }]
}

const endNames = ({ source_record_type, source_id, target_record_type, target_id }: Document) => [
  `${source_record_type}/${source_id}`,
  `${target_record_type}/${target_id}`,
]

const endsOf = ({ rel_type, source_record_type, source_id, target_record_type, target_id }: Document) => ({
  ...{ rel_type, source_record_type, source_id, target_record_type, target_id },
})
