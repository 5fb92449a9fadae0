/** Aggregates over time: the groups as they were at the end of each interval, in one pass of the log. */
import { Over } from '../../../contract/aggregate-shapes.ts'
import { readMoment } from '../../../contract/time-input.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import type { Parameters } from '../../data/filter/parameters.ts'
import type { BoundFilter } from '../../data/filter/syntax-tree.ts'
import { written } from '../../data/ledger/record.ts'
import { wholeLog, withinTimes } from '../../log/ranges.ts'
import { compileFor } from '../../records/query/compile-query.ts'
import { requireCompleteHistory } from '../../records/query/point-in-time.ts'
import { recordsSince } from '../../records/query/point-in-time-statements.ts'
import { UNSORTED } from '../../records/query/sort.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { statement, timed } from '../../storage/database/client.ts'
import { asTime, type Cell } from './column.ts'
import { AT, type Interval } from './input.ts'
import type { GroupColumns } from './statement.ts'

export type OverTime = { interval: Interval; since: Date; until: Date | null }

/**
 * Parses `over`.
 * @throws VALIDATION_ERROR
 */
export function readOver({ over: raw, asOf }: { over?: unknown; asOf?: unknown }): OverTime | null {
  if (raw === undefined || raw === null) return null
  if (asOf !== undefined && asOf !== null)
    throw invalid({
      path: '/over',
      code: 'exclusive',
      message: 'over and as_of exclude each other. Send one of them.',
    })
  const { interval, since, until } = check(Over, raw, inBody('/over'))
  const now = Date.now()
  const over = {
    interval,
    since: readMoment(since, now),
    until: until === undefined ? null : readMoment(until, now),
  }
  const last = Math.min(over.until?.getTime() ?? now, now)
  if (over.since.getTime() >= last)
    throw invalid({
      path: '/over/since',
      code: 'out_of_range',
      message: 'since must be before until, and in the past.',
    })
  // What cannot fit is not counted. The moments themselves are, once they are there.
  if ((last - over.since.getTime()) / LEAST_MS[interval] > 2 * LIMITS.overMoments) throw tooManyMoments()
  return over
}

const tooManyMoments = () =>
  invalid({
    path: '/over/interval',
    code: 'too_many',
    message: `An aggregate over time has at most ${LIMITS.overMoments} moments. Send a longer interval, or a later since.`,
  })

const DAY_MS = 86_400_000
/** The shortest that an interval can be. */
const LEAST_MS: Readonly<Record<Interval, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS - 3_600_000,
  week: 7 * DAY_MS - 3_600_000,
  month: 28 * DAY_MS - 3_600_000,
  quarter: 90 * DAY_MS - 3_600_000,
  year: 365 * DAY_MS - 3_600_000,
}

/** The ends of the intervals from `$2` to `$3` in the timezone `$4`, and `$3`. The present is rounded up, as times of the log may be. */
const MOMENTS = timed(
  statement(
    'moments_over_time',
    `WITH n AS (SELECT date_trunc('milliseconds', now()) + interval '1 ms' AS now),
     b AS (SELECT $2::timestamptz AS since, least(coalesce($3::timestamptz, now), now) AS until FROM n)
     SELECT e.at FROM b CROSS JOIN generate_series(date_trunc($1, b.since AT TIME ZONE $4), b.until AT TIME ZONE $4,
       CASE $1 WHEN 'quarter' THEN interval '3 months' ELSE ('1 ' || $1)::interval END) AS s (local)
     CROSS JOIN LATERAL (SELECT s.local AT TIME ZONE $4 AS at) e
     WHERE e.at > b.since AND e.at < b.until
     UNION SELECT until FROM b ORDER BY 1`,
  ),
)

type Asked = {
  type: CompiledType
  filter: BoundFilter | null
  plan: GroupColumns
  over: OverTime
  parameters: Parameters
}

/**
 * The columns of a plan over time, and their rows. A state of a record lasts from the first moment that sees it to the last one
 * before the next state. States of equal span are added up first, so that few rows meet the moments.
 */
export async function overTime(
  scope: Scope,
  { type, filter, plan, over, parameters }: Asked,
): Promise<{ columns: GroupColumns; from: string }> {
  const { baseId, id, timezone } = type
  const zone = over.interval === 'hour' || over.interval === 'minute' ? 'UTC' : timezone
  const moments = await scope.db.query<{ at: Date | string }>(MOMENTS, [
    over.interval,
    over.since,
    over.until,
    zone,
  ])
  if (moments.length > LIMITS.overMoments) throw tooManyMoments()
  const first = written(moments[0]?.at ?? new Date())
  await requireCompleteHistory(scope, baseId, { text: first, zone: 'UTC' }, '/over/since')
  const all = await wholeLog(scope.db, baseId)
  const { after } = await withinTimes(scope.db, baseId, all, { since: first, until: null })
  // To read what came before costs less than to find the state before of each record, if it is no longer than the rest.
  const isShort = after - all.after <= all.upTo - after

  const ofType = { base: parameters.add(baseId), recordType: parameters.add(id) }
  const sources = recordsSince({ ...ofType, after: isShort ? null : parameters.add(after) })
  const array = (times: readonly (Date | string)[]) => `${parameters.add(times.map(written))}::timestamptz[]`
  const at = array(moments.map((moment) => moment.at))
  // A moment sees what was written at it, so the bounds are just after: times of entries have milliseconds.
  const bounds = array(moments.map((moment) => new Date(Date.parse(written(moment.at)) + 1)))
  const { operands } = compileFor({ baseId, type: { ...type, indexes: [] }, sort: UNSORTED }, parameters)
  const matches = filter ? ` AND ${compileFilter(filter, operands)}` : ''
  const more = {
    id: 'r.id',
    version: 'r.version',
    // Once for each state: a search of the moments costs as much as its place in the order of versions.
    seen: `width_bucket(r.updated_at, ${bounds})`,
    lives: `r.operation <> 'delete'${matches}`,
  }
  const states = sources.map((from) =>
    plan.source.branchStatement({ from, where: 'true', type, more, parallel: true }, parameters),
  )

  const summed = plan.cells.map((cell, n) => ({
    cell,
    names: cell.parts?.sql.map((_, part) => `p${n}_${part}`) ?? [],
  }))
  // What is no sum is computed of the values themselves.
  const kept = new Set(plan.cells.flatMap((cell) => (cell.parts ? [] : columnsOf(cell))))
  const keys = ['first', 'last', ...kept].map((name) => `s.${name}`)
  const sums = summed.flatMap(({ cell, names }) =>
    names.map((name, part) => `${cell.parts?.sql[part]} AS ${name}`),
  )
  // The next state is the earliest of all later versions: transactions log the time of their start.
  const rows = `SELECT ${[...keys, ...sums].join(', ')}
    FROM (SELECT v.*, v.seen + 1 AS first,
        coalesce(min(v.seen) OVER (PARTITION BY v.id ORDER BY v.version DESC
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), cardinality(${at})) AS last
      FROM (${states.map((state) => `(${state})`).join(' UNION ALL ')}) v) s
    WHERE s.lives AND s.first <= s.last GROUP BY ${keys.join(', ')}`
  // Without group keys each moment has a row.
  const join = plan.groups.length === 0 ? 'LEFT JOIN' : 'JOIN'
  const moment: Cell = {
    name: AT,
    column: 'moment',
    sql: 'm.at',
    kind: 'instant',
    zone: timezone,
    show: asTime,
  }
  const cells = summed.map(({ cell, names }) =>
    cell.parts ? { ...cell, sql: cell.parts.joined(names.map((name) => `s.${name}`)) } : cell,
  )
  return {
    columns: { ...plan, groups: [moment, ...plan.groups], cells: [moment, ...cells] },
    from: `unnest(${at}) WITH ORDINALITY AS m (at, n) ${join} (SELECT * FROM (${rows}) s OFFSET 0) s ON m.n BETWEEN s.first AND s.last`,
  }
}

/** The columns of the source that a cell reads. */
const columnsOf = ({ sql, groupedBy = '' }: Cell): string[] =>
  [...`${sql} ${groupedBy}`.matchAll(/\bs\.(\w+)/g)].map(([, name = '']) => name)
