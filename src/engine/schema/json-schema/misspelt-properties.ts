/** Finds properties that an open schema does not declare, and whose names are close to ones that it declares. */

import { isClose } from '../../../contract/suggest.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { pointer } from '../../../json/parse.ts'
import { locate } from '../../../schema-shape/refs.ts'
import { renamedTo } from './property-names.ts'

/** The warnings about the properties of a value, at most a few. */
export type FindMisspelt = (data: unknown) => readonly string[]

/** Bounds the work of a value, and of a schema. */
const MOST = { lookups: 50, warnings: 5, levels: 5, declared: 500, parts: 20, known: 200 }
/** Names of this length and less are near only where one begins with the other: `tag` and `tags`. */
const SHORT = 3

/** An object of the schema whose undeclared properties are looked up. */
type Level = {
  readonly names: ReadonlySet<string>
  /** The level of a property; undefined where its properties are not looked up. */
  below(name: string): Level | undefined
  /** The declared name that is near to another. */
  nearTo(name: string): string | undefined
}

/** The finder of a schema; null where no property of the root can be misspelt: it is closed, or declares none. */
export function findMisspelt(schema: unknown): FindMisspelt | null {
  const root = levelOf(schema, schema, 1)
  if (!root) return null
  return (data) => {
    const warnings: string[] = []
    let lookups = MOST.lookups
    const look = (value: unknown, level: Level, path: readonly string[]) => {
      if (!isObject(value)) return
      for (const name in value) {
        if (level.names.has(name)) {
          const below = isObject(value[name]) ? level.below(name) : undefined
          if (below) look(value[name], below, [...path, name])
          continue
        }
        if (lookups === 0 || warnings.length === MOST.warnings) return
        lookups--
        const near = level.nearTo(name)
        if (near !== undefined && !Object.hasOwn(value, near)) warnings.push(warning([...path, name], near))
      }
    }
    look(data, root, [])
    return warnings
  }
}

/** The declared property that is near to one that an open schema does not declare. */
export function nearProperty(schema: unknown, name: string): string | undefined {
  const level = levelOf(schema, schema, 1)
  return level?.names.has(name) ? undefined : level?.nearTo(name)
}

const warning = (path: readonly string[], near: string): string =>
  `data${pointer(...path.map((name) => name.slice(0, LIMITS.misspeltChars)))} is not a property of the schema. It is stored as sent. Did you mean ${JSON.stringify(near)}?`

/** Whether two names differ by a letter, or by their case and separators only. */
function isNear(name: string, declared: string): boolean {
  const [one, other] = [plain(name), plain(declared)]
  if (one === other) return true
  const shorter = Math.min(one.length, other.length)
  return shorter >= SHORT && isClose(one, other) && (shorter > SHORT || isPart(one, other))
}

const plain = (name: string): string =>
  name
    .slice(0, LIMITS.misspeltChars)
    .toLowerCase()
    .replace(/[_\s-]/g, '')
const isPart = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one)

/** What an open object declares; undefined where any name is expected, or none is known. */
function levelOf(schema: unknown, root: unknown, depth: number): Level | undefined {
  const declared = new Map<string, unknown>()
  let isOpen = true
  let parts = 0
  const read = (part: unknown) => {
    if (!isObject(part)) return
    const { properties, patternProperties, additionalProperties, unevaluatedProperties, $ref } = part
    const others = [patternProperties, additionalProperties, unevaluatedProperties]
    if (++parts > MOST.parts || others.some((each) => each !== undefined && each !== true)) isOpen = false
    if (!isOpen) return
    if (isObject(properties)) for (const name in properties) declared.set(name, properties[name])
    if (typeof $ref === 'string') read(locate(root, $ref)?.schema)
    for (const branch of branchesOf(part)) read(branch)
  }
  read(schema)
  if (!isOpen || declared.size === 0 || declared.size > MOST.declared) return undefined
  const levels = new Map<string, Level | undefined>()
  const known = new Map<string, string | undefined>()
  const names = new Set(declared.keys())
  return {
    names,
    below(name) {
      if (depth === MOST.levels) return undefined
      if (!levels.has(name)) levels.set(name, levelOf(declared.get(name), root, depth + 1))
      return levels.get(name)
    },
    nearTo(name) {
      if (known.has(name)) return known.get(name)
      const near =
        renamedTo(Object.fromEntries(declared), name) ?? [...names].find((each) => isNear(name, each))
      if (known.size === MOST.known) known.clear()
      if (name.length <= LIMITS.misspeltChars) known.set(name, near)
      return near
    },
  }
}

/** The schemas that apply to the same object. */
const branchesOf = ({
  allOf,
  anyOf,
  oneOf,
  then,
  else: otherwise,
  dependentSchemas,
  $dynamicRef,
}: Record<string, unknown>) => [
  ...[allOf, anyOf, oneOf].flatMap((each) => (Array.isArray(each) ? each : [])),
  then,
  otherwise,
  ...Object.values(isObject(dependentSchemas) ? dependentSchemas : {}),
  // Its target is not known here, so that all names are expected.
  ...($dynamicRef === undefined ? [] : [{ additionalProperties: {} }]),
]
