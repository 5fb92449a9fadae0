import { isDeepStrictEqual } from 'node:util'
import { type Detail, invalid } from '../../../foundation/errors.ts'
import { survivesDouble } from '../../../json/decimal.ts'
import { pointer } from '../../../json/parse.ts'
import { type FieldPath, fieldName, parseField } from '../../schema/compiled-types/field-path.ts'
import { migrates, type PutOptions } from '../lifecycle/kind.ts'

/** Policy for records that violate a new schema: reject the change, flag them, or migrate them. */
export type OnInvalid = NonNullable<PutOptions['onInvalid']>

const CASTS = ['string', 'number', 'integer', 'boolean'] as const
type Cast = (typeof CASTS)[number]

/** One migration step on the records of a type, at a field of their data. */
export type MigrationStep =
  | { op: 'default'; field: FieldPath; value: unknown }
  | { op: 'rename'; field: FieldPath; to: FieldPath }
  | { op: 'cast'; field: FieldPath; type: Cast }
  | { op: 'replace'; field: FieldPath; from: unknown; value: unknown }
  | { op: 'drop'; field: FieldPath }

const NEEDS = {
  default: ['value'],
  rename: ['to'],
  cast: ['type'],
  replace: ['from', 'value'],
  drop: [],
} as const satisfies Record<MigrationStep['op'], readonly string[]>
const STEP = '{"op":"rename","field":"data.name","to":"data.title"}'
type RawStep = Partial<Record<'op' | 'field' | (typeof NEEDS)[MigrationStep['op']][number], unknown>>

/**
 * Reads `migration`.
 * @throws VALIDATION_ERROR
 */
export function readMigration(options: Pick<PutOptions, 'onInvalid' | 'migration'>): MigrationStep[] {
  const { onInvalid, migration } = options
  if (!migrates(options)) return []
  if (onInvalid === 'allow')
    throw fault(
      '/migration',
      'exclusive',
      'on_invalid=allow keeps invalid records, and "migration" repairs them. Send one of them.',
    )
  if (!Array.isArray(migration)) {
    const needed = migration === undefined ? 'migrate=true needs "migration",' : '"migration" must be'
    throw fault('/migration', 'required', `${needed} a list of steps, such as [${STEP}].`)
  }
  return migration.map((step, index) => readStep(step as RawStep, `/migration/${index}`))
}

/** The steps of a change, or those that take the records back to a former state. */
export const stepsOf = (
  options: Pick<PutOptions, 'onInvalid' | 'migration' | 'migrationBack'>,
): MigrationStep[] =>
  readMigration(options.migrationBack ? { migration: options.migrationBack.steps } : options)

/** The renames of a migration, as the migration that takes them back. */
export const renamesBack = (migration: unknown): object[] =>
  readMigration({ migration })
    .reverse()
    .flatMap((step) =>
      step.op === 'rename' ? [{ op: 'rename', field: fieldName(step.to), to: fieldName(step.field) }] : [],
    )

/** The dotted paths of the properties that the steps take away. */
export const takenAway = (steps: readonly MigrationStep[]): string[] =>
  steps.flatMap(({ op, field }) => (op === 'rename' || op === 'drop' ? field.join('.') : []))

/** Where the steps leave what is at a path; null if they drop it. */
export const pathAfter = (path: FieldPath, steps: readonly MigrationStep[]): FieldPath | null =>
  steps.reduce<FieldPath | null>((at, step) => {
    if ((step.op !== 'rename' && step.op !== 'drop') || !at) return at
    if (!step.field.every((segment, n) => segment === at[n])) return at
    return step.op === 'drop' ? null : [...step.to, ...at.slice(step.field.length)]
  }, path)

/** The properties that the steps rename, as dotted paths. */
export const renamesOf = (steps: readonly MigrationStep[]): { from: string; to: string }[] =>
  steps.flatMap((step) =>
    step.op === 'rename' ? [{ from: step.field.join('.'), to: step.to.join('.') }] : [],
  )

function readStep(raw: RawStep, at: string): MigrationStep {
  const op = raw?.op
  if (!isOp(op))
    throw fault(`${at}/op`, 'enum', `op must be default, rename, cast, replace or drop, as in ${STEP}.`, {
      allowed: Object.keys(NEEDS),
    })
  const keys: readonly string[] = ['field', ...NEEDS[op]]
  const unknown = Object.keys(raw).find((key) => key !== 'op' && !keys.includes(key))
  if (unknown !== undefined)
    throw fault(
      at + pointer(unknown),
      'unknown_key',
      `"${op}" takes ${keys.map((key) => `"${key}"`).join(' and ')}, not "${unknown.slice(0, 64)}".`,
      { allowed: ['op', ...keys] },
    )
  for (const key of NEEDS[op])
    if (raw[key] === undefined) throw fault(`${at}/${key}`, 'required', `"${op}" needs "${key}".`)
  if (raw.field === undefined)
    throw fault(`${at}/field`, 'required', `"${op}" needs "field", such as "data.status".`)
  const field = dataField(raw.field, `${at}/field`)
  if (op === 'rename') {
    const to = dataField(raw.to, `${at}/to`)
    if (isWithin(to, field)) throw withinItself(`${at}/to`, field)
    return { op, field, to }
  }
  if (op === 'default') return { op, field, value: raw.value }
  if (op === 'replace') return { op, field, from: raw.from, value: raw.value }
  if (op === 'drop') return { op, field }
  if (!CASTS.includes(raw.type as Cast))
    throw fault(`${at}/type`, 'enum', `type must be one of ${CASTS.join(', ')}.`, { allowed: CASTS })
  return { op, field, type: raw.type as Cast }
}

const isOp = (op: unknown): op is MigrationStep['op'] => typeof op === 'string' && Object.hasOwn(NEEDS, op)

/** Whether the path is below the other: the value would move into itself. */
const isWithin = (path: FieldPath, holder: FieldPath): boolean =>
  path.length > holder.length && holder.every((segment, n) => segment === path[n])

const withinItself = (at: string, field: FieldPath) =>
  fault(
    at,
    'within_itself',
    `A property cannot move into itself. Rename "${fieldName(field)}" to another name first, and that one to this place.`,
  )

/** Parses `data.a.b`, or `a.b` for short. */
function dataField(raw: unknown, at: string): FieldPath {
  if (typeof raw !== 'string') throw fault(at, 'type', 'A field must be written like "data.status".')
  const field = parseField(/^data[.[]/.test(raw) ? raw : `data.${raw}`, at)
  if (field.kind !== 'data' || field.path.some(isUnnamed))
    throw fault(
      at,
      'invalid_field',
      'A migration works on named properties only. Write one as "data.address.city".',
    )
  return field.path
}

// Assigning to __proto__ does not create a property.
const isUnnamed = (segment: FieldPath[number]) => typeof segment !== 'string' || segment === '__proto__'

/** Applies all steps to a copy of the data. */
export function migrate(data: unknown, steps: readonly MigrationStep[]): unknown {
  if (steps.length === 0) return data
  const copy = structuredClone(data)
  for (const step of steps) applyStep(copy, step)
  return copy
}

type Holder = Record<string, unknown>

function applyStep(data: unknown, step: MigrationStep): void {
  const holder = holderOf(data, step.field, step.op === 'default')
  const key = step.field.at(-1) as string
  if (!holder) return
  const present = Object.hasOwn(holder, key)
  // A copy: a later step may write into it, and each record has its own.
  if (step.op === 'default' && !present) holder[key] = structuredClone(step.value)
  if (step.op === 'replace' && present && isDeepStrictEqual(holder[key], step.from))
    holder[key] = structuredClone(step.value)
  if (step.op === 'drop') delete holder[key]
  if (step.op === 'cast' && present) holder[key] = cast(holder[key], step.type)
  if (step.op === 'rename' && present) {
    const target = holderOf(data, step.to, true)
    const value = holder[key]
    if (!target || Object.hasOwn(target, step.to.at(-1) as string)) return
    delete holder[key]
    target[step.to.at(-1) as string] = value
  }
}

/** The object that holds the last segment of the path. `make` creates missing objects on the way. */
function holderOf(data: unknown, path: FieldPath, make: boolean): Holder | undefined {
  let at = data
  for (const segment of path.slice(0, -1)) {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return undefined
    const holder = at as Holder
    if (make && !Object.hasOwn(holder, segment as string)) holder[segment as string] = {}
    at = Object.hasOwn(holder, segment as string) ? holder[segment as string] : undefined
  }
  return typeof at === 'object' && at !== null && !Array.isArray(at) ? (at as Holder) : undefined
}

/**
 * Converts the value if the conversion is lossless. Otherwise returns it unchanged, and schema validation
 * rejects it.
 */
function cast(value: unknown, type: Cast): unknown {
  if (type === 'string')
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (type === 'boolean')
    return value === 'true' || value === 1 ? true : value === 'false' || value === 0 ? false : value
  const number =
    typeof value === 'string' ? parsed(value) : typeof value === 'boolean' ? Number(value) : value
  if (typeof number !== 'number') return value
  return type === 'integer' && !Number.isInteger(number) ? value : number
}

/** The number that a text has in decimal form, if a double holds it exactly. */
function parsed(text: string): number | undefined {
  const token = text.trim().replace(/^\+/, '')
  return token !== '' && survivesDouble(token) ? Number(token) : undefined
}

const fault = (path: string, code: string, message: string, extra: Partial<Detail> = {}) =>
  invalid({ path, code, message, ...extra })
