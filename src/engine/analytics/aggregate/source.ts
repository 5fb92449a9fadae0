import { columnOperand, demandField, type FieldContext, valueAt, zoneOf } from '../../filter/operand.ts'
import type { Parameters } from '../../filter/parameters.ts'
import type { AggregateField, Interval } from './query.ts'

/**
 * What aggregates need of a field. `value`: of `data` as jsonb, null when missing. `type`: its JSON type. `number`,
 * `text`: the value when it is one. `instant`: the time it is, where the schema says that there are times. An interval:
 * the start of the one that the time lies in.
 */
export type Facet = 'value' | 'type' | 'number' | 'text' | 'instant' | Interval

/** A part of the records that share a meaning of their fields; `from` and `where` find them as `plinth.record AS r`. */
export type Branch = { from: string; where: string; type: FieldContext }

/** The columns that aggregates read, each field taken out of its record once. */
export class Source {
  readonly #fields = new Map<string, { field: AggregateField; at: string; facets: Set<Facet> }>()

  /** The column `s.…` that holds the facet of the field; `at` is where the field stands in the request. */
  column(field: AggregateField, facet: Facet, at: string): string {
    const key = JSON.stringify(field)
    const known = this.#fields.get(key) ?? { field, at, facets: new Set() }
    this.#fields.set(key, known)
    known.facets.add(facet)
    return `s.${facet}${[...this.#fields.keys()].indexOf(key)}`
  }

  /** The rows of all branches, as `s`. Asked for when every column is known. */
  statement(branches: readonly Branch[], parameters: Parameters): string {
    const parts = branches.map((branch) => `(${this.branchStatement(branch, parameters)})`)
    return `(${parts.join(' UNION ALL ')}) s`
  }

  /** OFFSET 0 keeps the steps apart: the planner would copy an expression to each of its uses. */
  branchStatement({ from, where, type }: Branch, parameters: Parameters): string {
    const raw: string[] = []
    const shown: string[] = []
    for (const [n, { field, at, facets }] of [...this.#fields.values()].entries()) {
      raw.push(`${rawValue(field, type, parameters, at)} AS f${n}`)
      for (const facet of facets)
        shown.push(`${facetOf(facet, `r.f${n}`, field, type, parameters)} AS ${facet}${n}`)
    }
    const inner = `SELECT ${raw.join(', ')} FROM ${from} WHERE ${where} OFFSET 0`
    return raw.length === 0
      ? `SELECT FROM ${from} WHERE ${where}`
      : `SELECT ${shown.join(', ')} FROM (${inner}) r OFFSET 0`
  }
}

function rawValue(field: AggregateField, type: FieldContext, parameters: Parameters, at: string): string {
  if (field.kind === 'base') return 'r.base_id'
  if (field.kind === 'column') return columnOperand(field.column, type).sql
  demandField(field, type, at)
  return valueAt(field.path, parameters)
}

function facetOf(
  facet: Facet,
  sql: string,
  field: AggregateField,
  type: FieldContext,
  parameters: Parameters,
): string {
  const isTime = facet !== 'value' && facet !== 'type' && facet !== 'number' && facet !== 'text'
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
    case 'instant': {
      const zone = zoneOf(field.path, type)
      return zone === null ? 'NULL::timestamptz' : instant(zone)
    }
    default:
      return bucket(facet, instant(type.timezone), type.timezone, parameters)
  }
}

/** The start of the interval that the instant lies in, by the clocks of the zone. Weeks start on Monday. */
function bucket(interval: Interval, instant: string, zone: string, parameters: Parameters): string {
  const at = `${parameters.add(zone)}::text`
  // Within an hour the clocks show the instant's own offset, and in UTC there is no other.
  if (interval === 'hour' || interval === 'minute' || zone === 'UTC')
    return `date_trunc('${interval}', ${instant}, ${at})`
  // A clock may show midnight twice, or never. The moment before it is shown as of old, and the day starts right after.
  const before = `date_trunc('${interval}', ${instant} AT TIME ZONE ${at}) - interval '1 microsecond'`
  return `((${before}) AT TIME ZONE ${at} + interval '1 microsecond')`
}
