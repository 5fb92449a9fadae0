/** Holds the records of types whose schema or indexes change, until the transaction ends. */
import type { DomainError } from '../../../foundation/errors.ts'
import type { WriteScope } from '../../write/write.ts'
import type { Holding } from '../lifecycle/kind.ts'
import { lockTypes } from '../lifecycle/lock.ts'
import { type Flag, flagRecords } from './flag-records.ts'
import { noteSince, openSurvey, type Survey } from './survey.ts'

/** A type whose writers wait. `survey`: only what has been written since remains to be checked. */
export type Held = { readonly id: string; readonly jsonSchema: object; readonly survey: Survey | undefined }

/**
 * Blocks writes of records until the transaction ends. Checks what has been written since the surveys, and
 * stores what they found.
 */
export async function holdRecords(
  scope: WriteScope,
  baseId: string,
  held: readonly Held[],
): Promise<Holding> {
  await lockTypes(
    scope.db,
    'record_type',
    baseId,
    held.map(({ id }) => id),
  )
  const surveyed = held.flatMap(({ survey, ...type }) =>
    survey ? [{ type, survey, ...openSurvey({ ...type, steps: [] }, survey.flags, Infinity) }] : [],
  )
  if (surveyed.length > 0) {
    const since = Math.min(...surveyed.map(({ survey }) => survey.since))
    await noteSince(scope, baseId, since, surveyed)
  }
  const faults = new Map<string, DomainError>()
  const flags: Flag[] = []
  for (const { type, fault, flags: found } of surveyed) {
    const refused = fault()
    if (refused) faults.set(type.id, refused)
    else for (const [id, isValid] of found) flags.push({ recordType: type.id, id, isValid })
  }
  await flagRecords(scope.db, baseId, flags)
  return { settled: new Set(surveyed.map(({ type }) => type.id)), faults }
}
