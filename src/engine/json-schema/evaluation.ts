import { LIMITS } from '../../foundation/limits.ts'
import { spend } from './evaluation-cost.ts'
import type { Clean } from './normalize.ts'
import type { Pattern } from './pattern.ts'

/**
 * One schema, or one keyword of it, applied to a value. For the verdict alone `out` is null and the first fault ends it;
 * otherwise it goes on and adds every fault to `out`. `seen` collects what has been evaluated, where somebody asks.
 */
export type Evaluate = (data: unknown, seen: Seen | null, out: Faults | null, path: string) => boolean

/** What a keyword needs to become a function. */
export type Compiler = {
  schema(schema: unknown): Evaluate
  pattern(source: string): Pattern
  target(schema: Clean): unknown
}

/** Makes a function of one keyword of a clean schema; undefined where it asserts nothing. */
export type Keyword = (value: unknown, schema: Clean, compiler: Compiler) => Evaluate | undefined

/** What is wrong with a value, in terms of the schema; `messages.ts` puts it into words. */
export type Fault = {
  readonly keyword: string
  /** A JSON Pointer; of a fault about a property, to that property. */
  readonly path: string
  /** The keyword's value, and the schema around it. */
  readonly schema: unknown
  readonly parent: Clean
  readonly data: unknown
  readonly params?: Readonly<Record<string, unknown>>
}

const FAULT_STEPS = 150

/** The faults of a value: the first of them, each once, and how many there are. */
export class Faults {
  total = 0
  private readonly first = new Map<string, Fault>()

  add(fault: Fault): void {
    spend(FAULT_STEPS)
    const key = `${fault.keyword} ${fault.path}`
    if (this.first.has(key)) return
    this.total++
    if (this.first.size < LIMITS.errorDetails) this.first.set(key, fault)
  }

  get list(): Fault[] {
    return [...this.first.values()]
  }
}

/** The properties and items that the keywords of a schema have evaluated, for `unevaluatedProperties` and its like. */
export class Seen {
  private readonly properties = new Set<string>()
  allProperties = false
  /** The items before this place, and those that `contains` has found. */
  items = 0
  private found: Set<number> | undefined

  addProperty(name: string): void {
    spend(8)
    this.properties.add(name)
  }

  merge(other: Seen): void {
    spend(5 + other.properties.size * 10)
    for (const name of other.properties) this.properties.add(name)
    this.allProperties ||= other.allProperties
    this.items = Math.max(this.items, other.items)
    for (const place of other.found ?? []) this.addItem(place)
  }

  addItem(place: number): void {
    spend(8)
    this.found ??= new Set()
    this.found.add(place)
  }

  hasItem(place: number): boolean {
    return place < this.items || this.found?.has(place) === true
  }

  hasProperty(name: string): boolean {
    return this.allProperties || this.properties.has(name)
  }
}

export const isPlainObject = (data: unknown): data is Record<string, unknown> =>
  typeof data === 'object' && data !== null && !Array.isArray(data)
