import { nearest } from '../../contract/suggest.ts'
import { type Detail, invalid } from '../../foundation/errors.ts'
import type { Id } from './operation.ts'

/** What a name stands for, in the words that a wrong reference is refused with. */
export const recordOf = (recordType: string): string => `a record of type "${recordType.slice(0, 64)}"`
export const LINK = 'a relationship'

/** Stands where a reference does, until it is known what it refers to. */
export const LATER = 'later'

/** What the operations read so far are called. */
export type Names = {
  /** Gives an operation its name. @throws VALIDATION_ERROR when an earlier one has it */
  define(name: string, index: number, makes: string): void
  /** The id an operation means; `of` is what the id is to be of, as `define` was told it. @throws VALIDATION_ERROR */
  resolve(id: string | { $ref: string }, path: string, of: string): Id
  /** Is the operation referred to? */
  isReferred(index: number): boolean
}

/** Names look backward only, so each operation is asked for what was read before it. */
export function openNames(): Names {
  const known = new Map<string, { index: number; makes: string }>()
  const referred = new Set<number>()
  return {
    define: (name, index, makes) => {
      const before = known.get(name)
      if (before) throw invalid(repeated(name, before.index))
      known.set(name, { index, makes })
    },
    resolve: (id, path, of) => {
      if (typeof id === 'string') return id
      const found = known.get(id.$ref)
      if (!found) throw invalid(unknown(id.$ref, path, [...known.keys()]))
      if (found.makes !== of) throw invalid(misfit(id.$ref, path, found.makes, of))
      referred.add(found.index)
      return { ref: found.index }
    },
    isReferred: (index) => referred.has(index),
  }
}

const repeated = (name: string, index: number): Detail => ({
  path: '/name',
  code: 'duplicate_name',
  message: `Operation ${index} has the name "${name}" is used by an earlier operation. Send a unique name, or none.`,
  received: name,
})

function unknown(name: string, path: string, names: readonly string[]): Detail {
  const close = nearest(name, names)
  return {
    path: `${path}/$ref`,
    code: 'unknown_ref',
    message: `No operation before this one has the name "${name.slice(0, 128)}". A $ref can only name an earlier operation.`,
    received: name.slice(0, 128),
    allowed: names.slice(0, 20),
    ...(close !== undefined && { hint: close }),
  }
}

const misfit = (name: string, path: string, makes: string, of: string): Detail => ({
  path: `${path}/$ref`,
  code: 'ref_type',
  message: `"${name}" is ${makes}, and what is wanted here is ${of}.`,
  expected: of,
  received: makes,
})
