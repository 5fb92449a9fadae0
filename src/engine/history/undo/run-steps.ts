/** Reverts steps in waves, many with one statement. */
import { DomainError, invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { setCause } from '../../change-log/entry.ts'
import type { CompiledType } from '../../compiled-types/compiled-type.ts'
import { KINDS } from '../../configuration/kinds.ts'
import { refreshType } from '../../configuration/record-types/index.ts'
import { authorship } from '../../core/scope.ts'
import { type Db, statement } from '../../database/client.ts'
import { violatedConstraint } from '../../database/errors.ts'
import { guardUnique, variantFor, type WriteStatement } from '../../indexes/index.ts'
import { readLink, writeLinks } from '../../relationships/index.ts'
import type { WriteScope } from '../../write/write.ts'
import { cannotRevert } from '../revert.ts'
import { type RevertedTogether, revertTogether } from '../revert-configuration.ts'
import { revertFile } from '../revert-file.ts'
import { inputOf, type LinkState } from '../revert-relationship.ts'
import type { Obstacle, Step } from './plan-steps.ts'
import {
  BRING_BACK_RECORDS,
  DELETE_LINKS,
  DELETE_RECORDS,
  LINK_STATES,
  SET_BACK_RECORDS,
  STATES,
} from './record-statements.ts'
import type { Wave } from './schedule.ts'

/** The transaction of an undo. */
type Undoing = {
  scope: WriteScope
  baseId: string
  /** The changes that the revert of a change of a record type reverts, by the ids of their records. */
  causesOf: (change: number) => ReadonlyMap<string, number>
}
type Work = (undoing: Undoing, steps: readonly Step[]) => Promise<Obstacle[]>

/** Reverts a wave. Returns what prevents it; the transaction must then be rolled back. */
export async function runWave(undoing: Undoing, wave: Wave): Promise<Obstacle[]> {
  const [links, records] = [isOf('relationship'), isOf('record')]
  const parts: [Work, Step[]][] = [
    [deleteLinks, wave.deletions.filter(links)],
    [ofEachType(deleteRecords), wave.deletions.filter(records)],
    [ofEachType(setBack), wave.updates.filter(records)],
    [ofEachType(bringBack), wave.restorations.filter(records)],
    [putLinks, [...wave.restorations, ...wave.updates].filter(links)],
    [revertFiles, wave.configuration.filter(isOf('file'))],
  ]
  const resources = wave.configuration.filter(({ change }) => change.kind !== 'file')
  const obstacles = await attributed(undoing, resources, revertResources)
  for (const [work, steps] of parts)
    for (let from = 0; from < steps.length; from += AT_ONCE)
      obstacles.push(...(await attributed(undoing, steps.slice(from, from + AT_ONCE), work)))
  return obstacles
}

/** Steps per statement. A record has up to a megabyte. */
const AT_ONCE = 100

const isOf =
  (kind: string) =>
  ({ change }: Step): boolean =>
    change.kind === kind

const SAVEPOINT = statement('undo_savepoint', 'SAVEPOINT step')
const RELEASE = statement('undo_release', 'RELEASE SAVEPOINT step')
const ROLL_BACK = statement('undo_roll_back', 'ROLLBACK TO SAVEPOINT step')

/** Runs steps together. If that fails, runs them one by one, to say which of them fail. */
async function attributed(undoing: Undoing, steps: readonly Step[], work: Work): Promise<Obstacle[]> {
  const { db } = undoing.scope
  const [only, ...others] = steps
  if (!only) return []
  await db.query(SAVEPOINT, [])
  try {
    const obstacles = await work(undoing, steps)
    if (obstacles.length > 0) await db.query(ROLL_BACK, [])
    await db.query(RELEASE, [])
    return obstacles
  } catch (thrown) {
    const refusal = refusalOf(thrown)
    if (!refusal) throw thrown
    await db.query(ROLL_BACK, [])
    await db.query(RELEASE, [])
    if (others.length === 0) return [{ change: only.change, code: 'refused', by: null, message: refusal }]
  }
  const obstacles: Obstacle[] = []
  for (const step of steps) obstacles.push(...(await attributed(undoing, [step], work)))
  return obstacles
}

/** What a failure says, if it is one of the data; undefined for one of rights, and for races. */
function refusalOf(thrown: unknown): string | undefined {
  if (violatedConstraint(thrown) === 'record_external') return 'Another record has its external_id now.'
  if (!(thrown instanceof DomainError)) return undefined
  if (thrown.code !== 'CONFLICT' && thrown.code !== 'VALIDATION_ERROR' && thrown.code !== 'NOT_FOUND')
    return undefined
  const [detail] = thrown.details
  return detail && detail.message !== thrown.message ? `${thrown.message} ${detail.message}` : thrown.message
}

type WorkOnType = (undoing: Undoing, type: CompiledType, steps: readonly Step[]) => Promise<Obstacle[]>

const ofEachType =
  (work: WorkOnType): Work =>
  async (undoing, steps) => {
    const obstacles: Obstacle[] = []
    for (const [id, own] of Map.groupBy(steps, ({ change }) => change.recordType ?? '')) {
      const type = await refreshType(undoing.scope, undoing.baseId, id)
      obstacles.push(...(await work(undoing, type, own)))
    }
    return obstacles
  }

const versionOf = ({ act }: Step): number => ('version' in act ? act.version : 0)

/** Runs a statement on the records of a type. Returns the steps whose records it did not write. */
async function write(
  { scope, baseId }: Undoing,
  type: CompiledType,
  how: WriteStatement,
  steps: readonly Step[],
  valid: readonly boolean[],
): Promise<Step[]> {
  const rows = await guardUnique(type, () =>
    scope.db.query<{ id: string }>(variantFor(how, type), [
      baseId,
      type.id,
      steps.map(({ change }) => change.id),
      steps.map(versionOf),
      steps.map(({ change }) => String(change.seq)),
      valid,
      ...authorship(scope),
    ]),
  )
  const written = new Set(rows.map(({ id }) => id))
  return steps.filter(({ change }) => !written.has(change.id))
}

const deleteRecords: WorkOnType = async (undoing, type, steps) => {
  const left = await write(
    undoing,
    type,
    DELETE_RECORDS,
    steps,
    steps.map(() => true),
  )
  return left.map(({ change }) => ({
    change,
    code: 'linked',
    by: null,
    message: 'Later requests have linked the record.',
  }))
}

const setBack: WorkOnType = async (undoing, type, steps) => {
  const valid: boolean[] = []
  for (const { data, is_same } of await statesOf(undoing, type, steps)) {
    if (turnIsOver()) await nextTurn()
    const [fault, ...more] = type.schema.validate(data, '/data', undoing.scope.checks)
    // A change of status keeps the data, so existing violations of the schema are acceptable.
    if (fault && !is_same) throw invalid(fault, ...more)
    valid.push(fault === undefined)
  }
  await write(undoing, type, SET_BACK_RECORDS, steps, valid)
  return []
}

const bringBack: WorkOnType = async (undoing, type, steps) => {
  const states = await statesOf(undoing, type, steps)
  await write(
    undoing,
    type,
    BRING_BACK_RECORDS,
    steps,
    states.map(({ data }) => type.schema.isValid(data)),
  )
  return []
}

async function statesOf({ scope, baseId }: Undoing, type: CompiledType, steps: readonly Step[]) {
  const asked = [baseId, type.id, steps.map(({ change }) => change.id), steps.map(versionOf)]
  return scope.db.query<{ data: unknown; is_same: boolean }>(STATES, asked)
}

const deleteLinks: Work = async ({ scope, baseId }, steps) => {
  await scope.db.query(DELETE_LINKS, [
    baseId,
    steps.map(({ change }) => change.id),
    steps.map(({ change }) => String(change.seq)),
    ...authorship(scope),
  ])
  return []
}

const putLinks: Work = async ({ scope, baseId }, steps) => {
  const asked = [baseId, steps.map(({ change }) => change.id), steps.map(versionOf)]
  const states = await scope.db.query<{ data: LinkState; has_pair: boolean }>(LINK_STATES, asked)
  const links = steps.map(({ change }, i) => {
    const { data, has_pair } = states[i] as { data: LinkState; has_pair: boolean }
    if (has_pair && data.external_id === null)
      throw new DomainError('CONFLICT', 'The external_id of a relationship cannot be removed.')
    return { ...readLink(change.id, inputOf(data)), cause: String(change.seq) }
  })
  const outcomes = await writeLinks(scope, baseId, links)
  const failed = outcomes.find((outcome) => outcome instanceof DomainError)
  if (failed) throw failed
  return []
}

const revertFiles: Work = async ({ scope, baseId }, steps) => {
  for (const { change } of steps)
    await withCause(scope.db, String(change.seq), () => revertFile(scope, baseId, change, async () => {}))
  return []
}

/** Says which resource failed: each of the others alone may not fit what the rest changes. */
const revertResources: Work = async ({ scope, baseId, causesOf }, steps) => {
  const obstacles: Obstacle[] = []
  const refuse = ({ change }: Step, message: string) =>
    obstacles.push({ change, code: 'refused', by: null, message })
  const together = steps.flatMap((step): RevertedTogether[] => {
    const { change } = step
    const kind = KINDS.find(({ name }) => name === change.kind)
    if (!kind) refuse(step, cannotRevert(change.kind))
    const run = async (work: () => Promise<unknown>) => {
      try {
        await withCause(scope.db, String(change.seq), work)
      } catch (thrown) {
        const refusal = refusalOf(thrown)
        if (refusal) refuse(step, refusal)
        throw thrown
      }
    }
    return kind ? [{ kind, change, causes: causesOf(change.seq), run }] : []
  })
  if (obstacles.length > 0) return obstacles
  try {
    await revertTogether(scope, baseId, together)
  } catch (thrown) {
    if (obstacles.length === 0) throw thrown
  }
  return obstacles
}

async function withCause(db: Db, cause: string, work: () => Promise<unknown>): Promise<void> {
  await setCause(db, cause)
  await work()
  await setCause(db, '')
}
