import { DomainError } from '../../errors.ts'
import type { CompiledType } from '../compiled-type.ts'
import { statement } from '../db.ts'
import { guardUnique, hasUnique, variantFor, type WriteStatement } from '../indexes/index.ts'
import { lensOn } from '../lens/look.ts'
import { masked } from '../lens/mask.ts'
import type { WrittenRow } from '../records/put-statements.ts'
import { type RecordRow, toRecord } from '../records/record.ts'
import { authorship } from '../scope.ts'
import type { WriteScope } from '../write.ts'
import type { Decided, Decision, Of } from './decide.ts'
import { ofOperation } from './failures.ts'
import type { Held } from './held.ts'
import type { Content } from './operation.ts'
import type { Outcome } from './outcome.ts'
import { CANCEL_RECORDS, CREATE_RECORDS, UPDATE_RECORDS } from './statements.ts'

/** What is done type by type; deletions are not, as they may take records of any type along. */
type Written = Exclude<Decision['kind'], 'delete'>

const SAVEPOINT = statement('batch_savepoint', 'SAVEPOINT batch')
const UNDO = statement('batch_undo', 'ROLLBACK TO SAVEPOINT batch')

/**
 * Writes what was decided for records of one type, a statement a kind. Where a unique index refuses some of it, the
 * operations are done again one by one: one may free the value that a later one takes, and one alone is to blame.
 */
export async function writeRecords(
  scope: WriteScope,
  type: CompiledType,
  decided: readonly Decided<Of<Written>>[],
  held: Held,
): Promise<Outcome[]> {
  if (!hasUnique(type) || decided.length === 1) return writeKinds(scope, type, decided, held)
  await scope.db.query(SAVEPOINT, [])
  try {
    return await writeKinds(scope, type, decided, held)
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    await scope.db.query(UNDO, [])
  }
  const outcomes: Outcome[] = []
  for (const each of decided) outcomes.push(...(await writeKinds(scope, type, [each], held)))
  return outcomes
}

async function writeKinds(
  scope: WriteScope,
  type: CompiledType,
  decided: readonly Decided<Of<Written>>[],
  held: Held,
): Promise<Outcome[]> {
  const first = decided[0]?.operation.index ?? 0
  const of = <K extends Written>(kind: K) =>
    decided.filter((each): each is Decided<Of<K>> => each.decision.kind === kind)
  const rows = new Map<string, WrittenRow>()
  const lens = lensOn(scope, type.baseId, type.id)
  const run = async (how: WriteStatement, values: readonly unknown[]) => {
    const all = [type.baseId, type.id, ...values, ...authorship(scope)]
    const written = await ofOperation(first, () =>
      masked(lens, () => guardUnique(type, () => scope.db.query<WrittenRow>(variantFor(how, type), all))),
    )
    for (const row of written) rows.set(row.id, row)
  }
  const cancels = of('cancel')
  if (cancels.length > 0) await run(CANCEL_RECORDS, [cancels.map(({ decision }) => decision.row.id)])
  const updates = of('update')
  if (updates.length > 0)
    await run(UPDATE_RECORDS, [updates.map(({ decision }) => decision.row.id), ...columnsOf(updates)])
  const creates = inOrder(of('create'))
  if (creates.length > 0)
    await run(CREATE_RECORDS, [
      creates.map(({ decision }) => decision.id),
      ...columnsOf(creates),
      creates.map(({ decision }) => decision.isNewId),
    ])
  return decided.map((each) => outcomeOf(type.id, each, rows, held))
}

const columnsOf = (all: readonly { readonly decision: { readonly write: Content } }[]) => [
  all.map(({ decision }) => decision.write.text),
  all.map(({ decision }) => decision.write.pair?.externalSource ?? null),
  all.map(({ decision }) => decision.write.pair?.externalId ?? null),
]

/** By id, so that two batches that create the same records never wait for each other. */
const inOrder = (creates: readonly Decided<Of<'create'>>[]) =>
  [...creates].sort((a, b) => (a.decision.id < b.decision.id ? -1 : 1))

const DONE = { create: 'created', update: 'updated', cancel: 'updated' } as const

function outcomeOf(
  recordType: string,
  { operation, decision }: Decided<Of<Written>>,
  rows: Map<string, WrittenRow>,
  held: Held,
): Outcome {
  const { index, type } = operation
  const { kind } = decision
  const id = kind === 'create' ? decision.id : decision.row.id
  const before = kind === 'create' ? undefined : decision.row
  const data = 'write' in decision ? decision.write.data : before?.data
  const row = { ...(rows.get(id) ?? before), data } as RecordRow
  held.set(recordType, row)
  const done = kind === 'keep' || !rows.has(id) ? 'unchanged' : DONE[kind]
  return { index, type, operation: done, id, version: row.version, record: toRecord(recordType, row) }
}
