import { DomainError } from '../../foundation/errors.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import { authorship } from '../core/scope.ts'
import { statement } from '../database/client.ts'
import { guardUnique, hasUnique, variantFor, type WriteStatement } from '../indexes/index.ts'
import { lensOn } from '../row-policy/apply.ts'
import { masked } from '../row-policy/redact-errors.ts'
import type { WriteScope } from '../write/write.ts'
import { columnsOf, inParts } from './columns.ts'
import { ofOperation } from './failures.ts'
import type { Held } from './locked-records.ts'
import type { Outcome } from './outcome.ts'
import type { Decided, Of } from './resolve-operation.ts'
import { CANCEL_RECORDS, CREATE_RECORDS, UPDATE_RECORDS, type WrittenRow } from './statements.ts'
import { outcomeOf, type Written } from './write-outcome.ts'

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
  for (const part of inParts(of('update'))) {
    const ids = part.map(({ decision }) => decision.row.id)
    await run(UPDATE_RECORDS, [ids, ...columnsOf(part), part.map(({ decision }) => decision.row.place)])
  }
  for (const part of inParts(inOrder(of('create')))) {
    const ids = part.map(({ decision }) => decision.id)
    await run(CREATE_RECORDS, [ids, ...columnsOf(part), part.map(({ decision }) => decision.isNewId)])
  }
  return decided.map((each) => outcomeOf(type.id, each, rows, held))
}

/** By id, so that two batches that create the same records never wait for each other. */
const inOrder = (creates: readonly Decided<Of<'create'>>[]) =>
  [...creates].sort((a, b) => (a.decision.id < b.decision.id ? -1 : 1))
