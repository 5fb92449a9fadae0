/** Compiles the `default`s of a schema to a function that fills them in. */
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Evaluate } from './evaluation.ts'
import { spend } from './evaluation-cost.ts'
import {
  type Fill,
  type Filled,
  fillArray,
  fillInOrder,
  fillObject,
  fillOthers,
  TooMuch,
  type Whole,
} from './fill-defaults.ts'
import type { Clean, Reader } from './normalize.ts'
import type { Definitions } from './references.ts'
import { reaching, under } from './subschemas.ts'

/** A default that cannot be used, and why. */
export type BadDefault = {
  /** The schema that has the default, and the one of the property, which may refer to it. */
  readonly owner: Clean
  readonly schema: Clean
  readonly reason: 'refused' | 'endless' | 'too_large'
  /** The default with those of its own absent properties. */
  readonly whole: unknown
}

type Parts = {
  readonly root: Clean
  readonly reader: Reader
  readonly definitions: Definitions
  readonly evaluatorOf: (schema: Clean) => Evaluate
}

/**
 * Compiles the defaults; `fill` is null if no property has one. A default that its own schema refuses is
 * listed, and never filled in.
 */
export function compileDefaults(parts: Parts): { fill: Fill | null; bad: readonly BadDefault[] } {
  const { root, reader } = parts
  if (reader.defaults.size === 0) return { fill: null, bad: [] }
  const defaults = new Defaults(parts)
  for (const schema of reader.schemas.values()) defaults.wholeOf(schema)
  return { fill: defaults.fillOf(root) ?? null, bad: defaults.bad }
}

/** A default, and the schema that has it. */
type Found = { readonly owner: Clean; readonly value: unknown }

class Defaults {
  readonly bad: BadDefault[] = []
  private readonly parts: Parts
  private readonly found = new Map<Clean, Found | null>()
  private readonly wholes = new Map<Clean, Whole | null>()
  private readonly fills = new Map<Clean, Fill>()
  private readonly chars = new Map<Clean, number>()
  /** The schemas whose default is being completed, and those that were needed for their own. */
  private readonly open = new Set<Clean>()
  private readonly endless = new Set<Clean>()
  /** The schemas below which a property has a default. */
  private readonly relevant: ReadonlySet<Clean>

  constructor(parts: Parts) {
    this.parts = parts
    const all = [...parts.reader.schemas.values()]
    const starts = all.filter((schema) => under(schema, 'properties').some((each) => this.defaultOf(each)))
    this.relevant = reaching(starts, all, (schema) => [...this.inPlace(schema), ...members(schema)])
  }

  /** The subschemas that hold for the value itself: `$ref`, `allOf`, and a choice of one schema and null. */
  private inPlace(schema: Clean): Clean[] {
    const target = this.parts.definitions.target(schema)
    const choices = ['anyOf', 'oneOf'].flatMap((keyword) => nullable(under(schema, keyword)))
    return [...under(schema, 'allOf'), ...(isObject(target) ? [target] : []), ...choices]
  }

  /** The default of a schema: its own, or the first of those that apply in place. */
  private defaultOf(schema: Clean): Found | null {
    const known = this.found.get(schema)
    if (known !== undefined) return known
    spend(5)
    const { defaults } = this.parts.reader
    let found: Found | null = null
    if (defaults.has(schema)) found = { owner: schema, value: defaults.get(schema) }
    else
      for (const each of this.inPlace(schema)) {
        found = this.defaultOf(each)
        if (found) break
      }
    this.found.set(schema, found)
    return found
  }

  /** The default of a property with this schema, as a whole; null without a usable one. */
  wholeOf(schema: Clean): Whole | null {
    if (this.open.has(schema)) this.endless.add(schema)
    const known = this.wholes.get(schema)
    if (known !== undefined) return known
    // Until it is complete, the default has no value.
    this.wholes.set(schema, null)
    const found = this.defaultOf(schema)
    if (!found) return null
    const reasons = this.bad.length
    this.open.add(schema)
    const whole = this.complete(schema, found)
    this.open.delete(schema)
    if ('chars' in whole) this.wholes.set(schema, whole)
    // A bad default inside is the reason for the one around it.
    else if (this.bad.length === reasons) this.bad.push(whole)
    return 'chars' in whole ? whole : null
  }

  private complete(schema: Clean, { owner, value }: Found): Whole | BadDefault {
    const bad = (reason: BadDefault['reason'], whole = value): BadDefault => ({
      owner,
      schema,
      reason,
      whole,
    })
    const own = this.chars.get(owner) ?? JSON.stringify(value).length
    this.chars.set(owner, own)
    const filled: Filled = { chars: own, most: LIMITS.schemaBytes }
    try {
      const whole = this.fillOf(schema)?.(value, filled) ?? value
      if (this.endless.has(schema)) return bad('endless')
      const isValid = this.parts.evaluatorOf(schema)(whole, null, null, '')
      return isValid ? { value: whole, chars: filled.chars } : bad('refused', whole)
    } catch (error) {
      if (error instanceof TooMuch) return bad('too_large')
      throw error
    }
  }

  /** The fill of a schema; undefined if nothing below it has a default. */
  fillOf(schema: Clean): Fill | undefined {
    if (!this.relevant.has(schema)) return undefined
    const known = this.fills.get(schema)
    if (known) return known
    // Made on first use, because a recursive schema refers to its own fill.
    let made: Fill | undefined
    const fill: Fill = (data, filled) => {
      made ??= fillInOrder(this.fillsOf(schema))
      return made(data, filled)
    }
    this.fills.set(schema, fill)
    return fill
  }

  private fillsOf(schema: Clean): Fill[] {
    const properties = Object.entries(schema['properties'] ?? {}).filter(isSchema)
    const rules = Object.entries(schema['patternProperties'] ?? {}).map(
      ([source, each]) => [this.parts.reader.patterns.get(source), this.fillAt(each)] as const,
    )
    const named = new Set(Object.keys(schema['properties'] ?? {}))
    const first = ((schema['prefixItems'] ?? []) as unknown[]).map((each) => this.fillAt(each))
    const parts = [
      fillObject({
        absent: properties.flatMap(([name, each]) =>
          this.defaultOf(each) ? [[name, () => this.wholeOf(each)] as const] : [],
        ),
        below: properties.flatMap(([name, each]) => {
          const fill = this.fillOf(each)
          return fill ? [[name, fill] as const] : []
        }),
        others: fillOthers(named, rules, this.fillAt(schema['additionalProperties'])),
      }),
      fillArray(first, this.fillAt(schema['items'])),
      ...this.inPlace(schema).map((each) => this.fillOf(each)),
    ]
    return parts.filter((fill) => fill !== undefined)
  }

  private fillAt(schema: unknown): Fill | undefined {
    return isObject(schema) ? this.fillOf(schema) : undefined
  }
}

const isSchema = (entry: [string, unknown]): entry is [string, Clean] => isObject(entry[1])

/** The subschemas of the members of a value, where they hold without a condition. */
const members = (schema: Clean): Clean[] =>
  ['properties', 'patternProperties', 'additionalProperties', 'items', 'prefixItems'].flatMap((keyword) =>
    under(schema, keyword),
  )

/** Of a choice between one schema and null, that schema. */
function nullable(choices: readonly Clean[]): Clean[] {
  if (choices.length !== 2) return []
  const [one, another] = choices.filter(({ type }) => type !== 'null')
  return one && !another ? [one] : []
}
