/** Checks the records of types against changes of their schemas, or against deletions, without locks. */
import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../../foundation/errors.ts'
import type { Scope } from '../../core/scope.ts'
import type { DataCheck, Found } from '../lifecycle/kind.ts'
import { refuseRecords } from './delete-records.ts'
import type { Fields } from './fields.ts'
import { readMigration } from './migration.ts'
import { precheckRecords, type Reshaped } from './precheck-records.ts'

/** Checks all records that changes concern. Returns what was found, or the fault, in the same order. */
export async function checkRecords(
  scope: Scope,
  baseId: string,
  checks: readonly DataCheck<Fields>[],
): Promise<readonly Found[]> {
  const found = new Map<string, Found>()
  const reshaped: Reshaped[] = []
  for (const { id, before, next, migration } of checks)
    try {
      if (next === null) await refuseRecords(scope.db, { baseId, id })
      else {
        const steps = readMigration({ migration })
        if (steps.length > 0 || !isDeepStrictEqual(next.jsonSchema, before.jsonSchema))
          reshaped.push({ id, before: before.jsonSchema, jsonSchema: next.jsonSchema, steps })
      }
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown
      found.set(id, { fault: thrown })
    }
  const prechecks = reshaped.length > 0 ? await precheckRecords(scope, baseId, reshaped) : []
  for (const [n, { id }] of reshaped.entries()) found.set(id, prechecks[n] ?? {})
  return checks.map(({ id }) => found.get(id) ?? {})
}
