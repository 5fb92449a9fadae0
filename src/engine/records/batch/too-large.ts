import { type DomainError, invalid } from '../../../foundation/errors.ts'

/** The 400 for a batch whose records exceed the byte budget. */
export const tooLarge = (most: number, path = '/operations'): DomainError =>
  invalid({
    path,
    code: 'batch_too_large',
    message: `The records that a batch writes or returns exceed ${most} bytes in total; a record counts once for each operation on it. Send fewer operations in a batch. Nothing of it was written.`,
    expected: most,
  })
