/** The kind of value that a filter operator takes. */
export type Takes = 'any' | 'ordered' | 'list' | 'text' | 'nothing'

/** The filter operators, each with the kind of value it takes. */
export const OPERATORS = {
  eq: 'any',
  neq: 'any',
  gt: 'ordered',
  gte: 'ordered',
  lt: 'ordered',
  lte: 'ordered',
  in: 'list',
  not_in: 'list',
  like: 'text',
  ilike: 'text',
  starts_with: 'text',
  search: 'text',
  is_null: 'nothing',
  is_not_null: 'nothing',
  has: 'any',
  has_any: 'list',
  has_all: 'list',
} as const satisfies Record<string, Takes>

export type Operator = keyof typeof OPERATORS
export const OPERATOR_NAMES = Object.keys(OPERATORS) as Operator[]
export const isOperator = (name: unknown): name is Operator =>
  typeof name === 'string' && Object.hasOwn(OPERATORS, name)

const EQUALITY = ['eq', 'neq', 'in', 'not_in', 'is_null', 'is_not_null'] as const
const ORDERING = ['gt', 'gte', 'lt', 'lte'] as const
/** The operators of texts alone; `search` also reads lists and objects. */
export const TEXT_OPERATORS = ['like', 'ilike', 'starts_with', 'search'] as const
const MEMBERS = ['has', 'has_any', 'has_all'] as const

/** A JSON type, or `instant` for timestamp columns. */
export type ValueType = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'instant'

const BY_TYPE: Readonly<Record<ValueType, readonly Operator[]>> = {
  string: [...EQUALITY, ...ORDERING, ...TEXT_OPERATORS],
  number: [...EQUALITY, ...ORDERING],
  boolean: EQUALITY,
  array: [...EQUALITY, ...MEMBERS, 'search'],
  object: [...EQUALITY, 'search'],
  instant: [...EQUALITY, ...ORDERING],
}

/** The operators allowed for values of a type. */
export const operatorsFor = (type: ValueType): readonly Operator[] => BY_TYPE[type]
