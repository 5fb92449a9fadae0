import {
  checkField,
  columnOperand,
  type FieldContext,
  textAt,
  valueAt,
  zoneOf,
} from '../../data/filter/operand.ts'
import type { Parameters } from '../../data/filter/parameters.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { scalarAt } from '../../schema/json-schema/fields.ts'
import type { AggregateField, Interval } from './input.ts'

/**
 * A column that aggregates read from a field. `value`: jsonb of `data`, null when missing. `type`: its JSON
 * type. `number`, `text`: the value if it has that type. `rest`: the value if it is no text. `instant`: the value as a
 * time, if the schema declares times. An interval: the start of the interval that contains the time.
 */
export type Facet = 'value' | 'type' | 'number' | 'text' | 'rest' | 'instant' | Interval

/** A row source whose records share field types; `from` and `where` select them as `plinth.record AS r`. */
export type Branch = {
  from: string
  where: string
  type: FieldContext
  /** Further columns to select, by name. */
  more?: Readonly<Record<string, string>>
  /** Whether several processes may read it, which is for reads of seconds. */
  parallel?: true
}

/** What is read of a field whose type the schema says, and of no other: the type need not be tested then. */
const FACETS_OF: Readonly<Record<'string' | 'number', readonly Facet[]>> = {
  string: ['text', 'rest'],
  number: ['number'],
}

type MarkedType = Pick<CompiledType, 'baseId' | 'id' | 'revision' | 'jsonSchema'>

/**
 * Whether the type has the schema still that the statement was made from. Read once, in the snapshot of the records: a
 * change of the schema marks the records that it no longer accepts in the same transaction.
 */
const isCurrent = ({ baseId, id, revision }: MarkedType, parameters: Parameters): string =>
  `(SELECT EXISTS (SELECT FROM plinth.record_type t
     WHERE t.base_id = ${parameters.add(baseId)} AND t.id = ${parameters.add(id)} AND t.revision = ${parameters.add(revision)}::int))`

/** The source columns of an aggregate; each field is extracted once per record. */
export class Source {
  readonly #fields = new Map<string, { field: AggregateField; at: string; facets: Set<Facet> }>()
  readonly #type: MarkedType | null

  /** @param type the type of all records, if these have the mark whether its schema accepts them; else null */
  constructor(type: MarkedType | null) {
    this.#type = type
  }

  /** The type that all values of a field have in records that the schema accepts, if it is a string or a number. */
  scalarOf(field: AggregateField): 'string' | 'number' | null {
    return this.#type && field.kind === 'data' ? scalarAt(this.#type.jsonSchema, field.path) : null
  }

  #trustedPath(field: AggregateField, facets: ReadonlySet<Facet>): FieldPath | null {
    const scalar = this.scalarOf(field)
    const isTrusted = scalar !== null && [...facets].every((facet) => FACETS_OF[scalar].includes(facet))
    return isTrusted && field.kind === 'data' ? field.path : null
  }

  /** The column `s.…` for a facet of a field; `at` is the JSON Pointer of the field in the request. */
  column(field: AggregateField, facet: Facet, at: string): string {
    const key = JSON.stringify(field)
    const known = this.#fields.get(key) ?? { field, at, facets: new Set() }
    this.#fields.set(key, known)
    known.facets.add(facet)
    return `s.${facet}${[...this.#fields.keys()].indexOf(key)}`
  }

  /** Builds the UNION ALL of the branches, as `s`. Call it after every column is added. */
  statement(branches: readonly Branch[], parameters: Parameters): string {
    const parts = branches.map((branch) => `(${this.branchStatement(branch, parameters)})`)
    return `(${parts.join(' UNION ALL ')}) s`
  }

  /**
   * OFFSET 0 is an optimization fence: the planner would inline an expression at each of its uses. It reads the number, which it has
   * to convert, as an offset that may skip rows, so only one process reads them; the text is a constant of the right type.
   */
  branchStatement({ from, where, type, more = {}, parallel }: Branch, parameters: Parameters): string {
    const fence = parallel ? "OFFSET '0'" : 'OFFSET 0'
    const raw = Object.entries(more).map(([name, sql]) => `${sql} AS ${name}`)
    const shown = Object.keys(more).map((name) => `r.${name}`)
    for (const [n, { field, at, facets }] of [...this.#fields.values()].entries()) {
      const path = this.#trustedPath(field, facets)
      if (path) checkField({ kind: 'data', path }, type, at)
      else raw.push(`${rawValue(field, type, parameters, at)} AS f${n}`)
      for (const facet of facets) {
        const sql = path
          ? trusted(facet, path, parameters)
          : facetOf(facet, `r.f${n}`, field, type, parameters)
        shown.push(`${sql} AS ${facet}${n}`)
      }
    }
    if (this.#type && raw.length < this.#fields.size)
      raw.push('r.data', `r.valid AND ${isCurrent(this.#type, parameters)} AS is_sound`)
    const inner = `SELECT ${raw.join(', ')} FROM ${from} WHERE ${where} ${fence}`
    return raw.length === 0
      ? `SELECT FROM ${from} WHERE ${where}`
      : `SELECT ${shown.join(', ')} FROM (${inner}) r ${fence}`
  }
}

function rawValue(field: AggregateField, type: FieldContext, parameters: Parameters, at: string): string {
  if (field.kind === 'base') return 'r.base_id'
  if (field.kind === 'column') return columnOperand(field.column, type).sql
  checkField(field, type, at)
  return valueAt(field.path, parameters)
}

const isRest = (sql: string): string => `jsonb_typeof(${sql}) NOT IN ('string', 'null')`

/** The facet of a field of one known type: the type is tested only where the schema does not accept the record. */
function trusted(facet: Facet, path: FieldPath, parameters: Parameters): string {
  const value = valueAt(path, parameters)
  switch (facet) {
    case 'number':
      return `CASE WHEN r.is_sound OR jsonb_typeof(${value}) = 'number' THEN ${value}::numeric END`
    case 'text':
      return `(CASE WHEN r.is_sound OR jsonb_typeof(${value}) = 'string' THEN ${textAt(path, parameters)} END) COLLATE "C"`
    default:
      return `CASE WHEN NOT r.is_sound AND ${isRest(value)} THEN ${value} END`
  }
}

function facetOf(
  facet: Facet,
  sql: string,
  field: AggregateField,
  type: FieldContext,
  parameters: Parameters,
): string {
  const isTime =
    facet !== 'value' && facet !== 'type' && facet !== 'number' && facet !== 'text' && facet !== 'rest'
  if (field.kind !== 'data')
    return isTime && facet !== 'instant' ? bucket(facet, sql, type.timezone, parameters) : sql
  const ofType = (name: string, taken: string) =>
    `CASE WHEN jsonb_typeof(${sql}) = '${name}' THEN ${taken} END`
  const text = ofType('string', `${sql} #>> '{}'`)
  const instant = (zone: string) => `plinth.instant(${text}, ${parameters.add(zone)}::text)`
  switch (facet) {
    case 'value':
      return `CASE WHEN jsonb_typeof(${sql}) <> 'null' THEN ${sql} END`
    case 'type':
      return `jsonb_typeof(${sql})`
    case 'number':
      return ofType('number', `${sql}::numeric`)
    case 'text':
      return `(${text}) COLLATE "C"`
    case 'rest':
      return `CASE WHEN ${isRest(sql)} THEN ${sql} END`
    case 'instant': {
      const zone = zoneOf(field.path, type)
      return zone === null ? 'NULL::timestamptz' : instant(zone)
    }
    default:
      return bucket(facet, instant(type.timezone), type.timezone, parameters)
  }
}

/** Truncates an instant to the start of its interval in the timezone (date_trunc). Weeks start on Monday. */
function bucket(interval: Interval, instant: string, zone: string, parameters: Parameters): string {
  const at = `${parameters.add(zone)}::text`
  // Hours and minutes use the instant's own offset, and UTC has a single offset.
  if (interval === 'hour' || interval === 'minute' || zone === 'UTC')
    return `date_trunc('${interval}', ${instant}, ${at})`
  // A local midnight can occur twice or never at a DST change. The preceding microsecond has the old offset,
  // and the day starts directly after it.
  const before = `date_trunc('${interval}', ${instant} AT TIME ZONE ${at}) - interval '1 microsecond'`
  return `((${before}) AT TIME ZONE ${at} + interval '1 microsecond')`
}
