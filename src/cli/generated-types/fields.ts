/** The fields of a record that filters, sorts and aggregates name. */
import type { Shape } from '../../schema-shape/shape.ts'
import { typeOf } from './type-of-shape.ts'

/** Fields of every record. */
const OWN: readonly (readonly [string, string])[] = [
  ['id', 'string'],
  ['external_id', 'string'],
  ['external_source', 'string'],
  ['status', '"active" | "cancelled"'],
  ['version', 'number'],
  ['created_at', 'string'],
  ['updated_at', 'string'],
]
const MOST_FIELDS = 500

/** Paths with the types of their values: those of every record, then those of the data, the outer ones first. */
export function fieldsOf(shape: Shape): (readonly [path: string, type: string])[] {
  const found: (readonly [string, string])[] = [...OWN]
  for (let level: [string, Shape][] = [['data', shape]]; level.length > 0 && found.length < MOST_FIELDS; ) {
    const below = level.flatMap(([path, each]) => propertiesOf(path, each))
    found.push(...below.map(([path, each]) => [path, typeOf(withoutNull(each), 'stored', '  ')] as const))
    level = below.flatMap(([path, each]): [string, Shape][] =>
      each.items
        ? [
            [path, each],
            [`${path}[]`, each.items],
          ]
        : [[path, each]],
    )
  }
  return found.slice(0, MOST_FIELDS)
}

const propertiesOf = (path: string, { object }: Shape): [string, Shape][] =>
  [...object.properties].map(([name, shape]) => [
    `${path}${/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}`,
    shape,
  ])

/** Without null, which every comparison takes. */
function withoutNull(shape: Shape): Shape {
  const kinds = new Set([...shape.kinds].filter((kind) => kind !== 'null'))
  const values = shape.values?.filter((value) => value !== null)
  return kinds.size === 0 ? shape : { ...shape, kinds, values }
}
