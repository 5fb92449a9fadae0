/**
 * What a JSON Schema admits, as plain facts: the form between reading a schema and publishing it.
 * A shape always admits at least what its schema admits, so that no client refuses what the server takes.
 */

export const KINDS = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
export type Kind = (typeof KINDS)[number]

/** Limits by the kind of value they speak of, and whether a larger or a smaller one is the tighter. */
export const BOUNDS = {
  minimum: { kind: 'number', tighter: Math.max, looser: Math.min },
  maximum: { kind: 'number', tighter: Math.min, looser: Math.max },
  exclusiveMinimum: { kind: 'number', tighter: Math.max, looser: Math.min },
  exclusiveMaximum: { kind: 'number', tighter: Math.min, looser: Math.max },
  minLength: { kind: 'string', tighter: Math.max, looser: Math.min },
  maxLength: { kind: 'string', tighter: Math.min, looser: Math.max },
  minItems: { kind: 'array', tighter: Math.max, looser: Math.min },
  maxItems: { kind: 'array', tighter: Math.min, looser: Math.max },
  minProperties: { kind: 'object', tighter: Math.max, looser: Math.min },
  maxProperties: { kind: 'object', tighter: Math.min, looser: Math.max },
} as const satisfies Record<string, { kind: Kind; tighter: typeof Math.max; looser: typeof Math.max }>
export type Bound = keyof typeof BOUNDS
export const BOUND_NAMES = Object.keys(BOUNDS) as Bound[]

/** Rules that are kept whole or not at all. */
export const TRAITS = {
  integer: 'number',
  multipleOf: 'number',
  pattern: 'string',
  format: 'string',
  uniqueItems: 'array',
} as const satisfies Record<string, Kind>
export type Traits = {
  integer?: true
  multipleOf?: number
  pattern?: string
  format?: string
  uniqueItems?: true
}

export type Shape = {
  kinds: ReadonlySet<Kind>
  /** The only values there are; undefined where they are not listed. */
  values: readonly unknown[] | undefined
  bounds: Readonly<Partial<Record<Bound, number>>>
  traits: Traits
  /** What an array holds; undefined is anything. */
  items: Shape | undefined
  object: ObjectShape
  /** As the schema has it, to be cleaned where it is shown. */
  description: string | undefined
  /** Sentences that say what the published schema cannot. */
  notes: readonly string[]
  default: unknown
  examples: readonly unknown[]
}

export type ObjectShape = {
  properties: ReadonlyMap<string, Shape>
  required: ReadonlySet<string>
  /** What properties without a name here hold; undefined is anything. */
  additional: Shape | undefined
  /** True where names were admitted that `properties` does not list, so nothing may be sealed against them. */
  more: boolean
}

const NO_OBJECT: ObjectShape = {
  properties: new Map(),
  required: new Set(),
  additional: undefined,
  more: false,
}

export const ANY: Shape = {
  kinds: new Set(KINDS),
  values: undefined,
  bounds: {},
  traits: {},
  items: undefined,
  object: NO_OBJECT,
  description: undefined,
  notes: [],
  default: undefined,
  examples: [],
}

export const NEVER: Shape = { ...ANY, kinds: new Set() }

/** Anything at all, of which we could not see the property names. */
export const UNKNOWN: Shape = { ...ANY, object: { ...NO_OBJECT, more: true } }

/** True where no value fits. */
export const isNever = (shape: Shape | undefined) => shape?.kinds.size === 0

/** Whether a listed value is of what its shape holds; 2.5 in the list of an integer is none. */
export function isOf({ kinds, traits }: Pick<Shape, 'kinds' | 'traits'>, value: unknown): boolean {
  return (
    kinds.has(kindOf(value)) && !(traits.integer && typeof value === 'number' && !Number.isInteger(value))
  )
}

export function kindOf(value: unknown): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const kind = typeof value
  return kind === 'boolean' || kind === 'number' || kind === 'string' ? kind : 'object'
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Schemas come from users, and references multiply them: past this much work the caller reads less deeply. */
export class Budget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  spend(steps = 1): void {
    this.#left -= steps
    if (this.#left < 0) throw new TooBig()
  }
}

export class TooBig extends Error {}
