import { isDeepStrictEqual } from 'node:util'
import { type Detail, invalid } from '../../foundation/errors.ts'
import { type Pair, type RecordRow, toView } from '../record-store/record.ts'
import type { WriteScope } from '../write/write.ts'
import { lockTarget } from './lock-target.ts'

/** What a writer says of fields that no write sets, by their names in REST: a record is often sent back as it was read. */
export type ReadOnlyFields = Readonly<Record<string, unknown>>

/** Locks the record that a PUT means and holds what is stated to it. @returns its version @throws VALIDATION_ERROR */
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

/** Refuses what is stated of a record and is not so, or of one that is not there. @throws VALIDATION_ERROR with every fault */
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
