import type { Shape } from './shape.ts'

/** The paths of the properties of a record's data with their shapes, the outer ones first: `data.lines[].sku`. */
export function fieldPaths(data: Shape, most: number): (readonly [path: string, shape: Shape])[] {
  const found: [string, Shape][] = []
  for (let level: [string, Shape][] = [['data', data]]; level.length > 0 && found.length < most; ) {
    const below = level.flatMap(([path, each]) => propertiesOf(path, each))
    found.push(...below)
    level = below.flatMap(([path, each]): [string, Shape][] =>
      each.items
        ? [
            [path, each],
            [`${path}[]`, each.items],
          ]
        : [[path, each]],
    )
  }
  return found.slice(0, most)
}

const propertiesOf = (path: string, { object }: Shape): [string, Shape][] =>
  [...object.properties].map(([name, shape]) => [
    `${path}${/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}`,
    shape,
  ])

/** Without null, which every comparison takes. */
export function withoutNull(shape: Shape): Shape {
  const kinds = new Set([...shape.kinds].filter((kind) => kind !== 'null'))
  const values = shape.values?.filter((value) => value !== null)
  return kinds.size === 0 ? shape : { ...shape, kinds, values }
}
