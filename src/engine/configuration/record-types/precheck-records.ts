/** Checks the records of types against changed schemas ahead of the change, while others write. */
import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { writtenSince } from '../../log/written-since.ts'
import type { Found } from '../lifecycle/kind.ts'
import { type AffectedRecords, affectedBy } from './affected-records.ts'
import { type ExistingRow, recordsNamed, recordsOf } from './existing-records.ts'
import { openValidation, recordsRefused, type Validation } from './migrate-and-validate.ts'
import type { MigrationStep } from './migration.ts'
import { possiblyInvalidOf } from './possibly-invalid-records.ts'

/** What a check without a lock found: records that need another flag, and since when records may have changed. */
export type Precheck = { readonly since: number; readonly flags: ReadonlyMap<string, boolean> }

/** A type whose schema changes, with the steps that would migrate its records. */
export type Reshaped = {
  readonly id: string
  readonly before: object
  readonly jsonSchema: object
  readonly steps: readonly MigrationStep[]
}

/**
 * Checks all records of types. Then only those that are written until the change is made remain to be checked,
 * under its locks. Finds nothing if too many records need another flag, or if there is a migration: the change
 * then checks them all.
 */
export async function precheckRecords(
  scope: Scope,
  baseId: string,
  types: readonly Reshaped[],
): Promise<readonly Found[]> {
  const prechecks: OpenPrecheck[] = []
  for (const type of types) {
    if (turnIsOver()) await nextTurn()
    const affected = type.steps.length > 0 ? 'all' : affectedBy(type.before, type.jsonSchema)
    prechecks.push({ type, id: type.id, affected, ...openPrecheck(type) })
  }
  let since = await scope.feed.settledSeq()
  const suspects = await possiblyInvalidOf(scope, baseId, prechecks)
  for (const { id, affected, note } of prechecks)
    await note(recordsOf(scope, { baseId, id }, affected, suspects))
  for (let round = 0; round < LIMITS.precheckRounds; round++) {
    const open = prechecks.filter(({ isOpen }) => isOpen())
    if (open.length === 0) break
    const next = await scope.feed.settledSeq()
    const seen = await noteSince(scope, baseId, since, open)
    since = next
    if (seen <= LIMITS.precheckedFew) break
  }
  return prechecks.map(({ found }) => found(since))
}

type OpenPrecheck = ReturnType<typeof openPrecheck> & {
  readonly type: Reshaped
  readonly id: string
  readonly affected: AffectedRecords
}
type Noting = { readonly type: { readonly id: string }; note(pages: Pages): Promise<void> }

/** Checks the records of types that were written after an entry of the log. Returns how many entries there are. */
export async function noteSince(
  scope: Scope,
  baseId: string,
  since: number,
  types: readonly Noting[],
): Promise<number> {
  const ids = types.map(({ type }) => type.id)
  let seen = 0
  for await (const { entries, written } of writtenSince(scope.db, baseId, since, 'record', ids)) {
    seen += entries
    for (const { type, note } of types) {
      const named = written.get(type.id)
      if (named) await note(recordsNamed(scope, { baseId, id: type.id }, named))
    }
  }
  return seen
}

type Pages = AsyncIterable<readonly ExistingRow[]>

/**
 * Judges the records of one type.
 * @param known records that are known to need another flag
 * @param most flags to keep. With more, none are found
 */
export function openPrecheck(
  { jsonSchema, steps }: Pick<Reshaped, 'jsonSchema' | 'steps'>,
  known: ReadonlyMap<string, boolean> = new Map(),
  most: number = LIMITS.precheckedFlags,
) {
  const flags = new Map(known)
  let validation: Validation | undefined
  let fault: DomainError | undefined
  let isMany = false
  const isMigrated = steps.length > 0
  const faultOf = () =>
    fault ??
    (validation && validation.refused.count > 0 ? recordsRefused(validation.refused, isMigrated) : undefined)
  return {
    flags,
    fault: faultOf,
    isOpen: () => !isMany && !isMigrated && faultOf() === undefined,
    async note(pages: Pages): Promise<void> {
      if (fault) return
      try {
        validation ??= openValidation({ jsonSchema, steps })
        for await (const rows of pages)
          for (const { row, isValid } of await validation.page(rows)) {
            flags.delete(row.id)
            if (row.valid === isValid || isMany) continue
            flags.set(row.id, isValid)
            isMany = flags.size > most
          }
      } catch (thrown) {
        if (!(thrown instanceof DomainError)) throw thrown
        fault = thrown
      }
    },
    found: (since: number): Found => {
      const refused = faultOf()
      if (refused) return { fault: refused }
      if (isMigrated) return { rewritten: validation?.rewritten() ?? 0 }
      return isMany ? {} : { found: { since, flags } satisfies Precheck }
    },
  }
}
