/** The forms of a PATCH, as changes of fields. */

import { camelFields } from '../../../contract/field-names.ts'
import { mergeShape } from '../../../contract/merge-shape.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { adviseBody } from '../../../dialects/parameters.ts'
import { invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { own } from '../../../foundation/own.ts'
import { applyOperations, readOperations } from '../../../json/json-patch.ts'
import { mergePatch } from '../../../json/merge-patch.ts'
import { checkJson, pointer } from '../../../json/parse.ts'
import { definitionOf } from './definition.ts'
import type { Kind, States } from './kind.ts'

/**
 * A change of a stored definition: a merge patch (RFC 7396) or JSON Patch (RFC 6902) of its body (in the names of the wire), or,
 * of an import, fields to replace (in the engine's naming).
 */
export type Patch =
  | { readonly fields: object }
  | { readonly merge: unknown }
  | { readonly operations: unknown }

/** Fields to replace; null for the default. */
type Changes = object

type ReadPatch<F> = {
  /**
   * The changed fields.
   * @throws VALIDATION_ERROR; CONFLICT when a test operation fails
   */
  readonly changesOf: (before: F) => Changes | Promise<Changes>
  readonly states: States
}

/**
 * Validates the patch, before the definition that it changes is known.
 * @throws VALIDATION_ERROR
 */
export function readPatch<F extends object>(
  kind: Pick<Kind<F>, 'body' | 'secrets'>,
  patch: Patch,
): ReadPatch<F> {
  const { body } = kind
  if ('fields' in patch) return { changesOf: () => patch.fields, states: () => true }
  const members = Object.keys(body.shape)
  if ('merge' in patch) {
    const merge = check(mergeShape(body), patch.merge, inBody())
    checkJson(merge)
    const changesOf = (before: F) => {
      const merged = mergePatch(definitionOf(kind, before), merge) as Document
      return changesIn(body, merged, Object.keys(merge))
    }
    const at = (place: unknown, name: string) => (isObject(place) ? own(place, name) : undefined)
    return { changesOf, states: (path) => (path.reduce(at, merge as unknown) ?? null) !== null }
  }
  const operations = readOperations(patch.operations, members)
  const touched = operations.flatMap((operation) => {
    const written = operation.op === 'test' ? [] : [operation.path]
    return (operation.op === 'move' ? [...written, operation.from] : written).map(memberOf)
  })
  const changesOf = async (before: F) => {
    const patched = await applyOperations(definitionOf(kind, before), operations, LIMITS.smallBodyBytes)
    return changesIn(body, patched as Document, [...new Set(touched)])
  }
  const states: States = (path) => {
    const place = `${pointer(...path)}/`
    const isOn = (written: string) => place.startsWith(`${written}/`) || written.startsWith(place)
    return operations.some(({ op, path: written }) => op !== 'test' && op !== 'remove' && isOn(written))
  }
  return { changesOf, states }
}

type Document = Readonly<Record<string, unknown>>

/** `/json_schema/properties/x` → `json_schema`. */
const memberOf = (pointer: string): string => pointer.split('/', 2)[1] ?? ''

/** The touched members of a patched definition. A removed member has its default. */
function changesIn(body: Kind['body'], patched: Document, touched: readonly string[]): Changes {
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
