/** Turns an input into the data of a record, and the paths of its errors back. */
import { invalid, withPaths } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { pointer } from '../../json/faults.ts'
import type { Shape } from '../../schema-shape/shape.ts'
import type { TypeView } from './base-view.ts'
import { hasInputs } from './input-types.ts'
import { type Names, namesOf, namesWithin } from './to-filter.ts'

type Input = Readonly<Record<string, unknown>>

/** Data of a record. `explained` rewrites the paths of its errors to those of the input. */
export type Written = { data: object; explained: (thrown: unknown) => unknown }

/** @throws VALIDATION_ERROR for a property that is sent twice */
export function toData(sent: object, type: TypeView): Written {
  const names = namesOf(type)
  return {
    data: dataOf(sent as Input, names, ['data']),
    explained: (thrown) => explained(thrown, names, sent as Input),
  }
}

function dataOf(sent: Input, names: Names, at: readonly string[]): object {
  const { _more: more, ...fields } = sent
  const data = Object.entries(fields).map(([field, value]): [string, unknown] => {
    const { name = field, shape } = names.get(field) ?? {}
    return [name, shape ? converted(value, shape, [...at, field]) : value]
  })
  if (more == null) return Object.fromEntries(data)
  const here = [...at, '_more']
  if (!isObject(more))
    throw invalid({
      path: pointer(...here),
      code: 'type',
      message: '_more must be an object of other properties by their names.',
      expected: 'object',
    })
  const twice = data.find(([name]) => Object.hasOwn(more, name))
  if (twice)
    throw invalid({
      path: pointer(...here, twice[0]),
      code: 'exclusive',
      message: 'The property has a field of its own. Send it once.',
    })
  return Object.fromEntries([...data, ...Object.entries(more)])
}

function converted(value: unknown, shape: Shape, at: readonly string[]): unknown {
  const { items } = shape
  if (Array.isArray(value) && items && hasInputs(items))
    return value.map((each, n) => converted(each, items, [...at, String(n)]))
  return isObject(value) && hasInputs(shape) ? dataOf(value, namesWithin(shape), at) : value
}

const explained = (thrown: unknown, names: Names, sent: Input): unknown =>
  withPaths(thrown, (path) => {
    const [, first, ...rest] = path.split('/')
    if (first !== 'data' || rest.length === 0) return path
    return ['/data', ...argumentPath(rest, names, sent)].join('/')
  })

const plain = (segment: string) => segment.replaceAll('~1', '/').replaceAll('~0', '~')

/** The path of a property by the fields of the input. */
function argumentPath(path: readonly string[], names: Names, sent: unknown): readonly string[] {
  const [first, ...rest] = path
  if (first === undefined) return path
  const name = plain(first)
  const input = isObject(sent) ? sent : {}
  if (isObject(input['_more']) && Object.hasOwn(input['_more'], name)) return ['_more', ...path]
  const found = [...names].find(([, each]) => each.name === name)
  if (!found) return path
  const [field, { shape }] = found
  return [field, ...pathWithin(rest, shape, input[field])]
}

function pathWithin(path: readonly string[], shape: Shape, sent: unknown): readonly string[] {
  const [first, ...rest] = path
  if (hasInputs(shape)) return argumentPath(path, namesWithin(shape), sent)
  if (first === undefined || !shape.items || !Array.isArray(sent)) return path
  return [first, ...pathWithin(rest, shape.items, sent[Number(first)])]
}
