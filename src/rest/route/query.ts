import { z } from 'zod'
import { splitNames } from '../../contract/field-list.ts'
import { check, inPart } from '../../contract/validate.ts'
import { correctFilter, FORM } from '../../dialects/correct.ts'
import { adviseQuery } from '../../dialects/parameters.ts'
import { DomainError, invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { MAX_INT4 } from '../../foundation/units.ts'
import { parseJson, type Use } from '../../json/parse.ts'
import { ALL } from './rows.ts'

/** An integer query parameter. `schema` is its form in the OpenAPI description. */
export const whole = (min: number, max: number, standard: number | undefined, description: string) =>
  z
    .string()
    .regex(
      /^\d{1,16}$/,
      `It must be a whole number from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}.`,
    )
    .transform(Number)
    .pipe(z.int().min(min, `It must be at least ${min}.`).max(max, `It must be at most ${max}.`))
    .optional()
    .meta({
      description,
      schema: {
        type: 'integer',
        minimum: min,
        ...(max < Number.MAX_SAFE_INTEGER && { maximum: max }),
        ...(standard !== undefined && { default: standard }),
      },
    })

/** A boolean query parameter. */
export const flag = (description: string) =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description, schema: { type: 'boolean', default: false } })

export const pageQuery = z.strictObject({
  limit: whole(1, LIMITS.pageMax, LIMITS.pageDefault, 'Items per page.'),
  offset: whole(0, MAX_INT4, 0, 'Items to skip.'),
  cursor: z
    .string()
    .min(1, 'cursor must be a value of `meta.next_cursor`.')
    .optional()
    .meta({ description: 'Where the page starts: `meta.next_cursor` of the previous page.' }),
  include_total: flag('Add `meta.total`. This runs a count query.'),
})

/** A limit that may also be `all`, for formats that stream. */
export const orAll = <L extends z.ZodType>(limit: L, most?: number) =>
  z.union([limit, z.literal('all').transform(() => ALL)], {
    error: `It must be a whole number from 1${most === undefined ? '' : ` to ${most}`}, or "all".`,
  })
const ALL_ITEMS = 'Items per page. `all`, as CSV or NDJSON: the whole result, of one moment.'

/** Pagination parameters of a list that has formats beside JSON. */
export const rowsQuery = pageQuery.extend({
  limit: orAll(pageQuery.shape.limit, LIMITS.pageMax).meta({
    description: ALL_ITEMS,
    schema: {
      anyOf: [{ type: 'integer', minimum: 1, maximum: LIMITS.pageMax }, { const: 'all' }],
      default: LIMITS.pageDefault,
    },
  }),
})

/** Converts pagination parameters to GraphQL variables. */
export const pageOf = ({ limit, offset, cursor, include_total }: z.output<typeof pageQuery>) => ({
  limit,
  offset,
  cursor,
  includeTotal: include_total,
})

export const writeQuery = z.strictObject({
  dry_run: flag('Execute the write, roll it back, and return what it would have done.'),
})

const AS_OF =
  'Point-in-time read: the state at this time, such as `2026-01-31T09:30:00Z`, or an age such as `90m`, `2h` or `7d`.'
/** `as_of` (a past time) as a query parameter. */
export const asOf = z.string().optional().meta({ description: AS_OF })

/** A query parameter with JSON. */
export const json = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description, schema: { type: 'string', contentMediaType: 'application/json' } })

/** Pagination members of a query in a body. */
export const pageBody = z.strictObject({
  limit: z
    .int()
    .min(1)
    .max(LIMITS.pageMax)
    .optional()
    .meta({ description: 'Items per page. Defaults to 50.' }),
  offset: z.int().min(0).max(MAX_INT4).optional().meta({ description: 'Items to skip.' }),
  cursor: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Where the page starts: `meta.next_cursor` of the previous page.' }),
  include_total: z.boolean().optional().meta({ description: 'Add `meta.total`. This runs a count query.' }),
})

/** The same for a list that has formats beside JSON. */
export const rowsQueryBody = pageBody.extend({
  limit: orAll(pageBody.shape.limit, LIMITS.pageMax).meta({ description: ALL_ITEMS }),
})

/** A query parameter with a comma-separated list of names. */
export const names = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description, schema: { type: 'string' } })

/** A query parameter that names parts of an answer, separated by commas. */
export const parts = <P extends string>(allowed: readonly [P, ...P[]], description: string) =>
  z
    .string()
    .transform((text, context) => {
      const named = text.split(',')
      const known = allowed.filter((part) => named.includes(part))
      if (new Set(named).size > known.length)
        context.addIssue({ code: 'invalid_value', values: [...allowed], input: text })
      return known
    })
    .optional()
    .meta({ description, schema: { type: 'string' } })

/** Adds titles to the items of a list. */
export const includeTitles = z.enum(['titles']).optional().meta({
  description:
    '`titles`: add the `title` of each record, which `display.title` of its type says; of other resources their name.',
})
/** Present with `include=titles`. */
export const title = z.string().nullable().optional().meta({
  description: 'Present with `include=titles`: the title, at most 120 characters; null if there is none.',
})

/**
 * Parses a filter parameter. If it is none, the error shows the filter that was meant, or the form of one.
 * @throws VALIDATION_ERROR
 */
export function readFilter(text: string | undefined, name: string): unknown {
  try {
    return readJson(text, name, 'compared')
  } catch (thrown) {
    if (text === undefined || !(thrown instanceof DomainError)) throw thrown
    const [first, ...rest] = thrown.details
    throw first ? invalid({ ...first, hint: JSON.stringify(correctFilter(text)) ?? FORM }, ...rest) : thrown
  }
}

/**
 * Parses a JSON parameter.
 * @throws VALIDATION_ERROR at `query/<name>`
 */
function readJson(text: string | undefined, name: string, use?: Use): unknown {
  if (text === undefined) return undefined
  const value = parseJson(text, `query/${name}`, use)
  if (value !== null) return value
  throw invalid({ path: `query/${name}`, code: 'type', message: `"${name}" cannot be null. Leave it out.` })
}

type Asked = { filter?: string | undefined; sort?: string | undefined; fields?: string | undefined }

/** What selects, orders and shapes the items of a list, as variables. */
export const askedIn = ({ filter, sort, fields }: Asked) => ({
  filter: readFilter(filter, 'filter'),
  sort: sort?.startsWith('[') ? readJson(sort, 'sort') : sort,
  fields: fields === undefined ? undefined : splitNames(fields, 'query/fields'),
})

/** The shape of a query without parameters. */
export const NO_QUERY = z.strictObject({})

/**
 * The query shape of a route. Created once per route, because zod compiles each new shape at its first use.
 */
export const queryShape = (own: z.ZodObject | undefined, writes: boolean): z.ZodObject =>
  writes ? (own ?? NO_QUERY).extend(writeQuery.shape) : (own ?? NO_QUERY)

/**
 * Validates the query. Rejects duplicate parameters, and unknown ones with a suggestion.
 * @throws VALIDATION_ERROR
 */
export function readQuery(shape: z.ZodObject, raw: Record<string, unknown>): unknown {
  const twice = Object.keys(raw).find((name) => Array.isArray(raw[name]))
  if (twice !== undefined)
    throw invalid({
      path: `query/${twice}`,
      code: 'duplicate',
      message: `"${twice.slice(0, 64)}" is given more than once.`,
    })
  return check(shape, raw, inPart('query'), (known) => adviseQuery(raw, known))
}
