import { nearest } from '../../../contract/suggest.ts'
import { type Detail, invalid } from '../../../foundation/errors.ts'
import type { Id } from './operation.ts'

/** Description of a referenced record, for error messages. */
export const recordOf = (recordType: string): string => `a record of type "${recordType.slice(0, 64)}"`
export const LINK = 'a relationship'

/** Placeholder id of an unresolved reference. */
export const LATER = 'later'

/** Symbol table of operation names. */
export type Names = {
  /**
   * Defines the name of an operation.
   * @throws VALIDATION_ERROR when it is taken
   */
  define(name: string, index: number, makes: string): void
  /**
   * Resolves an id or a `$ref`; `of` is the expected kind, as passed to `define`.
   * @throws VALIDATION_ERROR
   */
  resolve(id: string | { $ref: string }, path: string, of: string): Id
  /** Whether any operation references it. */
  isReferred(index: number): boolean
}

/** Creates the symbol table. References point backward only, so operations are resolved in order. */
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
  message: `Operation ${index} has the name "${name}", which an earlier operation has already. Send a unique name, or none.`,
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
  message: `"${name}" names ${makes}, but this $ref must name ${of}.`,
  expected: of,
  received: makes,
})
