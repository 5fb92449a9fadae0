import type { EndpointTool } from '../../../contract/endpoint-shapes.ts'
import { type Detail, detailsThrownBy, invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { own } from '../../../foundation/own.ts'
import { pointer } from '../../../json/parse.ts'
import { isEmpty } from '../../core/row-policy/narrow.ts'
import { bindFilter } from '../../data/filter/check-fields.ts'
import { usesSearch } from '../../data/filter/compile.ts'
import { checkField, type FieldContext } from '../../data/filter/operand.ts'
import { parseFilter } from '../../data/filter/parse.ts'
import { parseField } from '../../schema/compiled-types/field-path.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import { rootProperties } from '../../schema/json-schema/fields.ts'
import { RECORD_TYPE_NAMES } from '../record-types/not-found.ts'

/** The record types of a base, for validating tool selections. */
export type Types = ReadonlyMap<string, FieldContext>

/** The record types that tool selections name. */
export const typesNamed = (selections: readonly EndpointTool[]) =>
  selections.map(({ record_type: id }, i) => ({ kind: RECORD_TYPE_NAMES, id, at: `/tools/${i}/record_type` }))

/** Validates the policies of tool selections whose types exist. */
export function selectionFaults(selections: readonly EndpointTool[], types: Types): Detail[] {
  return selections.flatMap((selection, i) => {
    const at = `/tools/${i}`
    const type = types.get(selection.record_type)
    if (!type) return []
    return [
      ...repeated(selection.operations, `${at}/operations`),
      ...repeated(selection.fields ?? [], `${at}/fields`),
      ...(selection.fields ?? []).flatMap((field, n) => fieldFaults(field, type, `${at}/fields/${n}`)),
      ...(selection.filter ? filterFaults(selection.filter, type, `${at}/filter`) : []),
      ...(selection.write_filter && !isEmpty(selection.write_filter)
        ? filterFaults(selection.write_filter, type, `${at}/write_filter`)
        : []),
      ...defaultFaults(selection.defaults ?? {}, type, `${at}/defaults`),
    ]
  })
}

/** Finds duplicates. */
export const repeated = (names: readonly string[], at: string): Detail[] =>
  names.flatMap((name, i) =>
    names.indexOf(name) === i
      ? []
      : [{ path: `${at}/${i}`, code: 'duplicate', message: `"${name}" is named twice.`, received: name }],
  )

function fieldFaults(name: string, type: FieldContext, at: string): readonly Detail[] {
  return detailsThrownBy(() => {
    const field = parseField(name, at)
    if (field.kind === 'data' && field.path.length === 1 && typeof field.path[0] === 'string')
      return checkField(field, type, at)
    throw invalid(notProperty(name, at))
  })
}

const notProperty = (name: string, path: string): Detail => ({
  path,
  code: 'invalid_field',
  message:
    'A field must be a top-level property of data, such as "data.name". Fields outside data are always visible.',
  received: name.slice(0, 64),
})

function filterFaults(raw: object, type: FieldContext, at: string): readonly Detail[] {
  return detailsThrownBy(() => {
    const filter = parseFilter(raw, at)
    if (usesSearch(filter)) throw invalid(noSearch(at))
    bindFilter(filter, type)
  })
}

const noSearch = (path: string): Detail => ({
  path,
  code: 'unsupported',
  message: '"search" cannot be used in an endpoint filter that allows writes. Use exact conditions.',
})

/** A default names a property, whose own schema takes the value. Rules between properties depend on what a call sends. */
function defaultFaults(defaults: object, type: FieldContext, under: string): readonly Detail[] {
  const { jsonSchema } = type
  const properties = rootProperties(jsonSchema)
  const faults: Detail[] = []
  const judged: Record<string, object> = {}
  for (const [name, value] of Object.entries(defaults)) {
    const at = `${under}${pointer(name)}`
    // The key of a default is a name, and no field.
    const found = detailsThrownBy(() => checkField({ kind: 'data', path: [name] }, type, at)).map(
      ({ hint, ...fault }) => (hint === undefined ? fault : { ...fault, hint: hint.replace(/^data\./, '') }),
    )
    const property = own(properties, name)
    faults.push(...found)
    // As a default of the property, so that it is completed and judged as one.
    if (found.length === 0 && isObject(property)) judged[name] = { ...property, default: value }
  }
  if (!isObject(jsonSchema) || Object.keys(judged).length === 0) return faults
  const places = new Map(
    Object.keys(judged).map((name) => [pointer('properties', name, 'default'), `${under}${pointer(name)}`]),
  )
  const bad = compileSchema({ ...jsonSchema, properties: { ...properties, ...judged } }, '').badDefaults()
  return [
    ...faults,
    ...bad.flatMap(({ path, ...fault }) => {
      const at = places.get(path)
      return at === undefined ? [] : [{ ...fault, path: at }]
    }),
  ]
}
