import { LIMITS } from '../../../foundation/limits.ts'
import { pointer } from '../../../json/parse.ts'
import { spend } from './evaluation-cost.ts'
import type { Clean } from './normalize.ts'
import type { Pattern } from './pattern.ts'

/**
 * Evaluates a schema or a keyword against a value. With `out` null it stops at the first fault; otherwise it
 * adds every fault to `out`. `seen` collects annotations for `unevaluated*`, if needed.
 */
export type Evaluate = (data: unknown, seen: Seen | null, out: Faults | null, path: string) => boolean

/** Compiler interface for keyword implementations. */
export type Compiler = {
  schema(schema: unknown): Evaluate
  pattern(source: string): Pattern
  target(schema: Clean): unknown
}

/** Compiles one keyword of a normalized schema; undefined when it asserts nothing. */
export type Keyword = (value: unknown, schema: Clean, compiler: Compiler) => Evaluate | undefined

/** A validation fault in terms of the schema; `messages.ts` formats it. */
export type Fault = {
  readonly keyword: string
  /** JSON Pointer of the value, or of the property for a property fault. */
  readonly path: string
  /** The keyword's value and its parent schema. */
  readonly schema: unknown
  readonly parent: Clean
  readonly data: unknown
  readonly params?: Readonly<Record<string, unknown>>
}

const FAULT_STEPS = 150

/** Collects faults: the first ones without duplicates, and the total count. */
export class Faults {
  total = 0
  private readonly first = new Map<string, Fault>()
  /** The `name` of the first faults. */
  private readonly names = new Set<unknown>()

  add(fault: Fault): void {
    spend(FAULT_STEPS)
    this.count(fault)
  }

  /** Adds the fault of a property of the value at `path`. Only the first ones need the path of their own. */
  addProperty(name: string, fault: Fault): void {
    spend(FAULT_STEPS)
    if (this.first.size < LIMITS.errorDetails || this.names.has(name))
      this.count({ ...fault, path: fault.path + pointer(name), params: { name } })
    else this.total++
  }

  private count(fault: Fault): void {
    const key = `${fault.keyword} ${fault.path}`
    if (this.first.has(key)) return
    this.total++
    if (this.first.size >= LIMITS.errorDetails) return
    this.first.set(key, fault)
    this.names.add(fault.params?.['name'])
  }

  get list(): Fault[] {
    return [...this.first.values()]
  }
}

/** Evaluated properties and items (annotations), for `unevaluatedProperties` and `unevaluatedItems`. */
export class Seen {
  private readonly properties = new Set<string>()
  allProperties = false
  /** Evaluated items: a prefix length, and indexes matched by `contains`. */
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
