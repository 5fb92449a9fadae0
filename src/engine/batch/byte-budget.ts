import { type DomainError, invalid } from '../../foundation/errors.ts'
import type { RecordOperation } from './operation.ts'
import type { Decided } from './resolve-operation.ts'

/**
 * The bytes that a batch has for the records it writes or answers. A patch of some bytes writes and answers a whole record,
 * so neither the log nor the answer is bounded by the size of the request.
 */
export type ByteBudget = { left: number; readonly most: number }

export const openByteBudget = (most: number): ByteBudget => ({ left: most, most })

/** Takes the room of what was decided, before any of it is written. @throws VALIDATION_ERROR at the operation that has none */
export function reserveBytes(room: ByteBudget, decided: readonly Decided[]): void {
  for (const { operation, decision } of decided) {
    if (decision.kind === 'delete') continue
    room.left -= 'write' in decision ? Buffer.byteLength(decision.write.text) : (decision.row.bytes ?? 0)
    if (room.left < 0) throw tooLarge(room.most, `/operations/${operation.index}`)
  }
}

/** The same of the data that the operations carry, before anything is looked up. @throws VALIDATION_ERROR */
export function demandRoom(most: number, operations: readonly RecordOperation[]): void {
  let bytes = 0
  for (const operation of operations) {
    if (!('write' in operation)) continue
    bytes += operation.write.text.length
    if (bytes > most) throw tooLarge(most, `/operations/${operation.index}`)
  }
}

export const tooLarge = (most: number, path = '/operations'): DomainError =>
  invalid({
    path,
    code: 'batch_too_large',
    message: `The records that a batch writes or returns exceed ${most} bytes in total; a record counts once for each operation on it. Send fewer operations in a batch. Nothing was written.`,
    expected: most,
  })
