/** The three forms of a PATCH, as changes of fields. */

import { camelFields } from '../../../contract/field-names.ts'
import { mergeShape } from '../../../contract/merge-shape.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { adviseBody } from '../../../dialects/parameters.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { applyOperations, readOperations } from '../../../json/json-patch.ts'
import { mergePatch } from '../../../json/merge-patch.ts'
import { checkJson } from '../../../json/parse.ts'
import { definitionOf } from './definition.ts'
import type { Kind } from './kind.ts'

/**
 * A change of a stored definition: fields to replace (in the engine's naming), or a merge patch (RFC 7396) or
 * JSON Patch (RFC 6902) of its body (in the names of the wire).
 */
export type Patch =
  | { readonly fields: object }
  | { readonly merge: unknown }
  | { readonly operations: unknown }

/** Fields to replace; null for the default. */
type Changes = object

/**
 * Validates the patch, before the definition that it changes is known.
 * @returns a function from the stored fields to the changed fields
 * @throws VALIDATION_ERROR; the function also CONFLICT when a test operation fails
 */
export function readPatch<F extends object>(
  kind: Pick<Kind<F>, 'body' | 'secrets'>,
  patch: Patch,
): (before: F) => Changes {
  const { body } = kind
  if ('fields' in patch) return () => patch.fields
  const members = Object.keys(body.shape)
  if ('merge' in patch) {
    const merge = check(mergeShape(body), patch.merge, inBody())
    checkJson(merge)
    return (before) => {
      const merged = mergePatch(definitionOf(kind, before), merge) as Document
      return changesOf(body, merged, Object.keys(merge))
    }
  }
  const operations = readOperations(patch.operations, members)
  const touched = operations.flatMap((operation) => {
    const written = operation.op === 'test' ? [] : [operation.path]
    return (operation.op === 'move' ? [...written, operation.from] : written).map(memberOf)
  })
  return (before) => {
    const patched = applyOperations(definitionOf(kind, before), operations, LIMITS.smallBodyBytes)
    return changesOf(body, patched as Document, [...new Set(touched)])
  }
}

type Document = Readonly<Record<string, unknown>>

/** `/json_schema/properties/x` → `json_schema`. */
const memberOf = (pointer: string): string => pointer.split('/', 2)[1] ?? ''

/** The touched members of a patched definition. A removed member has its default. */
function changesOf(body: Kind['body'], patched: Document, touched: readonly string[]): Changes {
  const present = Object.fromEntries(
    touched.flatMap((name) => (patched[name] === undefined ? [] : [[name, patched[name]]])),
  )
  check(body, present, inBody(), (known) => adviseBody(present, known))
  const text = JSON.stringify(patched)
  if (Buffer.byteLength(text) > LIMITS.smallBodyBytes) throw tooLarge()
  return camelFields(Object.fromEntries(touched.map((name) => [name, patched[name] ?? null])))
}

const tooLarge = () =>
  invalid({
    path: '',
    code: 'too_large',
    message: `A definition can have at most ${LIMITS.smallBodyBytes} bytes as JSON. Remove parts of it in the same patch.`,
    expected: LIMITS.smallBodyBytes,
  })
