import type { RecordOperation } from './operation.ts'
import type { Decided } from './resolve-operation.ts'
import { tooLarge } from './too-large.ts'

/**
 * Byte budget for the records that a batch writes or returns. A small patch writes and returns a whole
 * record, so the request size bounds neither the change log nor the response.
 */
export type ByteBudget = { left: number; readonly most: number }

export const openByteBudget = (most: number): ByteBudget => ({ left: most, most })

/**
 * Reserves budget for planned operations before any write.
 * @throws VALIDATION_ERROR at the operation that exceeds it
 */
export function reserveBytes(budget: ByteBudget, decided: readonly Decided[]): void {
  for (const { operation, decision } of decided) {
    if (decision.kind === 'delete') continue
    budget.left -= 'write' in decision ? Buffer.byteLength(decision.write.text) : (decision.row.bytes ?? 0)
    if (budget.left < 0) throw tooLarge(budget.most, `/operations/${operation.index}`)
  }
}

/**
 * Checks the request data against the budget before any look-up.
 * @throws VALIDATION_ERROR
 */
export function checkByteBudget(most: number, operations: readonly RecordOperation[]): void {
  let bytes = 0
  for (const operation of operations) {
    if (!('write' in operation)) continue
    bytes += operation.write.text.length
    if (bytes > most) throw tooLarge(most, `/operations/${operation.index}`)
  }
}
