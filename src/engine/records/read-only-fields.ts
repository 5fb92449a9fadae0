import { isDeepStrictEqual } from 'node:util'
import { type Detail, invalid } from '../../foundation/errors.ts'
import { type Pair, type RecordRow, toView } from '../record-store/record.ts'
import type { WriteScope } from '../write/write.ts'
import { lockTarget } from './lock-target.ts'

/**
 * Read-only fields in a write request, by their REST names. Clients often send a record back as they read it.
 */
export type ReadOnlyFields = Readonly<Record<string, unknown>>

/**
 * Locks the target of a PUT and compares the read-only fields.
 * @returns its version
 * @throws VALIDATION_ERROR
 */
export async function lockAndCompare(
  scope: WriteScope,
  type: readonly [baseId: string, recordType: string],
  target: { id: string; pair: Pair | null },
  stated: ReadOnlyFields,
): Promise<number> {
  const [row] = await lockTarget(scope.db, type, target)
  compareReadOnly(type[1], row, stated)
  return row?.version ?? 0
}

/**
 * Rejects read-only fields that differ from the record, or that are sent for an absent record.
 * @throws VALIDATION_ERROR with every fault
 */
export function compareReadOnly(
  recordType: string,
  row: RecordRow | undefined,
  stated: ReadOnlyFields,
): void {
  const stored: Record<string, unknown> = row ? { ...toView(recordType, row), valid: row.valid } : {}
  const [first, ...rest] = Object.entries(stated)
    .filter(([name, value]) => !row || !isDeepStrictEqual(stored[name], value))
    .map(([name, value]) => notWritable(name, value, row && { expected: stored[name] }))
  if (first) throw invalid(first, ...rest)
}

const notWritable = (name: string, received: unknown, stored: { expected: unknown } | undefined): Detail => ({
  path: `/${name}`,
  code: 'not_writable',
  message: stored
    ? `"${name}" is not for writers to set, and is another one now. Leave it out, or read the record again.`
    : `"${name}" is not for writers to set, and there is no record yet that has it. Leave it out.`,
  ...stored,
  received,
})
