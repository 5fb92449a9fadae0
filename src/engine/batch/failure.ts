import type { DomainError } from '../../foundation/errors.ts'

/** A failed operation. */
export type Failure = { readonly index: number; readonly error: DomainError }
