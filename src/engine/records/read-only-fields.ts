import { isDeepStrictEqual } from 'node:util'
import { type Detail, invalid } from '../../foundation/errors.ts'
import { type RecordRow, toView } from '../record-store/record.ts'

/**
 * Read-only fields in a write request, by their REST names. Clients often send a record back as they read it.
 */
export type ReadOnlyFields = Readonly<Record<string, unknown>>

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
