/** Reverts steps in waves, many with one statement. */

import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { KINDS } from '../../configuration/kinds.ts'
import { refreshType } from '../../configuration/record-types/index.ts'
import { authorship } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { setCause } from '../../log/entry.ts'
import { writeLinks } from '../../records/relationships/index.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { violatedConstraint } from '../../storage/database/errors.ts'
import { lostRace } from '../../storage/database/retry-races.ts'
import { cannotRevert } from '../revert.ts'
import { type RevertedTogether, revertTogether } from '../revert-configuration.ts'
import { revertFile } from '../revert-file.ts'
import { formerLink, type LinkState } from '../revert-relationship.ts'
import type { Obstacle, Step } from './plan-steps.ts'
import {
  bringBack,
  DELETE_LINKS,
  deleteRecords,
  idsOf,
  LINK_STATES,
  PAIR_TAKEN,
  seqsOf,
  setBack,
  versionOf,
  type WorkOnType,
} from './record-steps.ts'
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
    for (let from = 0; from < steps.length; from += LIMITS.undoneStepsAtOnce)
      obstacles.push(...(await attributed(undoing, steps.slice(from, from + LIMITS.undoneStepsAtOnce), work)))
  return obstacles
}

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
  if (violatedConstraint(thrown) === 'record_external') return PAIR_TAKEN
  if (!(thrown instanceof DomainError)) return undefined
  if (thrown.code !== 'CONFLICT' && thrown.code !== 'VALIDATION_ERROR' && thrown.code !== 'NOT_FOUND')
    return undefined
  const [detail] = thrown.details
  return detail && detail.message !== thrown.message ? `${thrown.message} ${detail.message}` : thrown.message
}

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

const deleteLinks: Work = async ({ scope, baseId }, steps) => {
  await scope.db.query(DELETE_LINKS, [...[baseId, idsOf(steps), seqsOf(steps)], ...authorship(scope)])
  return []
}

const putLinks: Work = async ({ scope, baseId }, steps) => {
  const asked = [baseId, idsOf(steps), steps.map(versionOf)]
  const states = await scope.db.query<{ data: LinkState; has_pair: boolean }>(LINK_STATES, asked)
  const links = steps.map(({ change, act }, i) => {
    const { data, has_pair } = states[i] as { data: LinkState; has_pair: boolean }
    if (has_pair && data.external_id === null)
      throw new DomainError('CONFLICT', 'The external_id of a relationship cannot be removed.')
    return { ...formerLink(change.id, data, act.kind === 'restore'), cause: String(change.seq) }
  })
  const outcomes = await writeLinks(scope, baseId, links)
  const failed = outcomes.find((outcome) => outcome instanceof DomainError)
  // Another writer has made it again since the plan.
  if (failed?.details.some(({ path, code }) => path === '/id' && code === 'exists'))
    throw lostRace('a relationship is there again')
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
