/**
 * Intermediate representation of a JSON Schema between reading and publishing: the set of values it admits. A
 * shape always admits at least what its schema admits, so that clients never reject what the server accepts.
 */

export const KINDS = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
export type Kind = (typeof KINDS)[number]

/** Numeric bounds, each with the kind of value it applies to and how to combine two. */
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

/** Constraints that are kept unchanged or dropped. */
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
  /** The allowed values (`enum`, `const`); undefined if not restricted. */
  values: readonly unknown[] | undefined
  bounds: Readonly<Partial<Record<Bound, number>>>
  traits: Traits
  /** Shape of array items; undefined allows anything. */
  items: Shape | undefined
  object: ObjectShape
  /** The original description; cleaned when published. */
  description: string | undefined
  /** Sentences about what the published schema cannot express. */
  notes: readonly string[]
  default: unknown
  examples: readonly unknown[]
}

export type ObjectShape = {
  properties: ReadonlyMap<string, Shape>
  required: ReadonlySet<string>
  /** Shape of properties that are not listed; undefined allows anything. */
  additional: Shape | undefined
  /** True if `properties` may be incomplete, so the object must not be closed. */
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

/** Allows anything, with unknown property names. */
export const UNKNOWN: Shape = { ...ANY, object: { ...NO_OBJECT, more: true } }

/** Whether the shape admits no value. */
export const isNever = (shape: Shape | undefined) => shape?.kinds.size === 0

/** The kind of all values other than null; undefined if there are several, or none. */
export function onlyKind({ kinds }: Shape): Kind | undefined {
  const [kind, ...others] = [...kinds].filter((each) => each !== 'null')
  return others.length === 0 ? kind : undefined
}

/** Whether an enum value fits the kinds of its shape; 2.5 does not fit an integer. */
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

/**
 * Work budget. Schemas come from users, and references multiply them. When the budget is spent, the caller
 * retries with fewer levels.
 */
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
