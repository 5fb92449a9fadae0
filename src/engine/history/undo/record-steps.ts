/** Reverts changes of records of one type, in one statement each. The records are locked. */
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { authorship } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { guardUnique, variantFor, type WriteStatement } from '../../data/indexes/index.ts'
import { BRING_BACK, type BroughtBackRow } from '../../data/ledger/bring-back.ts'
import { REMOVE_UNLINKED, type RemovedRow } from '../../data/ledger/remove.ts'
import { SET_BACK } from '../../data/ledger/set-state.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { tooManyWriters } from '../../storage/database/retry-races.ts'
import type { Obstacle, Step } from './plan-steps.ts'
import { STATES } from './record-statements.ts'

type Within = { readonly scope: WriteScope }
/** Reverts steps. Returns what prevents it. */
export type WorkOnType = (within: Within, type: CompiledType, steps: readonly Step[]) => Promise<Obstacle[]>

export const PAIR_TAKEN = 'Another record has its external_id now.'

export const versionOf = ({ act }: Step): number => ('version' in act ? act.version : 0)

export const idsOf = (steps: readonly Step[]) => steps.map(({ change }) => change.id)
export const seqsOf = (steps: readonly Step[]) => steps.map(({ change }) => String(change.seq))

/** Runs a statement on the records of a type. */
const write = <Row>(
  { scope }: Within,
  type: CompiledType,
  how: WriteStatement,
  values: readonly unknown[],
): Promise<Row[]> =>
  guardUnique(type, () => scope.db.query<Row>(variantFor(how, type), [type.baseId, type.id, ...values]))

export const deleteRecords: WorkOnType = async (undoing, type, steps) => {
  const values = [idsOf(steps), null, null, ...authorship(undoing.scope), seqsOf(steps)]
  const rows = await write<RemovedRow>(undoing, type, REMOVE_UNLINKED, values)
  const linked = new Set(rows.flatMap(({ kind, id }) => (kind === 'deleted' ? [] : id)))
  return steps.flatMap(({ change }) =>
    linked.has(change.id)
      ? { change, code: 'linked' as const, by: null, message: 'Later requests have linked the record.' }
      : [],
  )
}

/** Sets records back to versions of them, which their schema must accept. */
export async function setBack(
  undoing: Within,
  type: CompiledType,
  steps: readonly Step[],
): Promise<Obstacle[]> {
  const valid: boolean[] = []
  for (const { data, is_same } of await statesOf(undoing, type, steps)) {
    if (turnIsOver()) await nextTurn()
    const [fault, ...more] = type.schema.validate(data, '/data', undoing.scope.checks)
    // A change of status keeps the data, so existing violations of the schema are acceptable.
    if (fault && !is_same) throw invalid(fault, ...more)
    valid.push(fault === undefined)
  }
  const values = [idsOf(steps), steps.map(versionOf), seqsOf(steps), valid, ...authorship(undoing.scope)]
  await write(undoing, type, SET_BACK, values)
  return []
}

export const bringBack: WorkOnType = async (undoing, type, steps) => {
  const states = await statesOf(undoing, type, steps)
  const valid = states.map(({ data }) => type.schema.isValid(data))
  const rows = await write<BroughtBackRow>(undoing, type, BRING_BACK, [
    ...[idsOf(steps), steps.map(versionOf), seqsOf(steps), valid],
    ...[...authorship(undoing.scope), null, null],
  ])
  if (rows.some(({ kind }) => kind === 'retry')) throw tooManyWriters()
  const taken = new Set(rows.flatMap(({ kind, id }) => (kind === 'restored' ? [] : id)))
  return steps.flatMap(({ change }) =>
    taken.has(change.id) ? { change, code: 'refused' as const, by: null, message: PAIR_TAKEN } : [],
  )
}

async function statesOf({ scope }: Within, type: CompiledType, steps: readonly Step[]) {
  const asked = [type.baseId, type.id, idsOf(steps), steps.map(versionOf)]
  return scope.db.query<{ data: unknown; is_same: boolean }>(STATES, asked)
}
