/** Makes what a source is sent of the data of a record, by its mapping. */
import type { SentField, Source } from '../../../contract/source-shapes.ts'
import { invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { pointer } from '../../../json/parse.ts'
import { compileJsonPath } from '../../schema/json-path/json-path.ts'

type Tree = Map<string, unknown>

/**
 * The body of a request.
 * @throws VALIDATION_ERROR for a property or a value that the mapping does not have
 */
export function sentFields({ name: source, field_mapping: mapping }: Source, data: object): object {
  const fields = mapping?.to_external
  if (!fields) return data
  const body: Tree = new Map()
  for (const [name, value] of Object.entries(data)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) throw unmapped(source, name, Object.keys(fields))
    put(body, namesOf(field), translated(field, name, value))
  }
  return objectOf(body)
}

const pathOf = (field: SentField): string => (typeof field === 'string' ? field : field.path)

/** The names that lead to the field in the body. */
const namesOf = (field: SentField): readonly string[] => {
  const path = pathOf(field)
  return (path.startsWith('$') ? compileJsonPath(path).names : null) ?? [path]
}

function put(tree: Tree, [name = '', ...below]: readonly string[], value: unknown): void {
  if (below.length === 0) return void tree.set(name, value)
  const known = tree.get(name)
  const next = known instanceof Map ? (known as Tree) : new Map<string, unknown>()
  tree.set(name, next)
  put(next, below, value)
}

const objectOf = (tree: Tree): object =>
  Object.fromEntries([...tree].map(([name, value]) => [name, value instanceof Map ? objectOf(value) : value]))

function translated(field: SentField, name: string, value: unknown): unknown {
  const values = isObject(field)
    ? (field['values'] as Readonly<Record<string, unknown>> | undefined)
    : undefined
  if (values === undefined || value === null) return value
  const key = typeof value === 'string' ? value : JSON.stringify(value)
  if (Object.hasOwn(values, key)) return values[key]
  throw invalid({
    path: `/data${pointer(name)}`,
    code: 'unknown_value',
    message:
      'The value is not one of those that the mapping translates. Send one of them, or add it to the source.',
    received: key.slice(0, 200),
    allowed: Object.keys(values),
  })
}

const unmapped = (source: string, name: string, allowed: readonly string[]) =>
  invalid({
    path: `/data${pointer(name)}`,
    code: 'not_of_source',
    message: `The source "${source}" does not take the property "${name.slice(0, 64)}". Leave it out, or add it to to_external.`,
    allowed,
  })
