/** Command `plinth aggregate <type>`. */
import { FUNCTIONS, INTERVALS } from '../../contract/aggregate-functions.ts'
import { misused } from '../command/failure.ts'
import { commandOf } from '../command/operations.ts'
import type { Option } from '../command/options.ts'
import { note, showRows } from '../command/print.ts'

type Page = { data: Record<string, unknown>[]; meta: { has_more: boolean; offset: number; total?: number } }

/** Parses `fn` or `fn:field`. */
function readAggregation(text: string, flag: string): object {
  const [fn = '', ...rest] = text.split(':')
  const field = rest.join(':')
  if (!FUNCTIONS.some((each) => each === fn))
    throw misused(`${flag} must be count, or one of ${FUNCTIONS.join(', ')} with a field: sum:data.amount.`)
  return field === '' ? { fn } : { fn, field }
}

/** Parses `field` or `field:interval`. */
function readGroup(text: string): unknown {
  const interval = INTERVALS.find((each) => text.endsWith(`:${each}`))
  return interval === undefined ? text : { field: text.slice(0, -interval.length - 1), interval }
}

/** Parses `interval:since`. */
function readOver(text: string, flag: string): object {
  const interval = INTERVALS.find((each) => text.startsWith(`${each}:`))
  if (interval === undefined) throw misused(`${flag} must be an interval and a time, such as day:30d.`)
  return { interval, since: text.slice(interval.length + 1) }
}

/** Aggregations of a command, written as `fn:field`. */
export const aggregation: Option = {
  flags: '--fn <fn:field>',
  about:
    'count, or sum, avg, min, max, count_distinct of a field: sum:data.amount; may be given several times',
  to: { body: 'aggregations' },
  read: readAggregation,
  several: true,
  required: true,
}

/** Group keys of a command. */
export const group: Option = {
  flags: '--group-by <field>',
  about: 'a group key: data.status, or created_at:month; may be given several times',
  to: { body: 'group_by' },
  read: readGroup,
  several: true,
}

const over: Option = {
  flags: '--over <interval:since>',
  about: 'the groups as they were at the end of each interval: day:30d, or month:2026-01-01T00:00:00Z',
  to: { body: 'over' },
  read: readOver,
}

export const aggregate = commandOf('records.aggregate', 'aggregate', {
  summary: 'Count, sum and compare the records of a type, by group',
  says: {
    aggregations: aggregation,
    group_by: group,
    over,
    filter: 'a filter of the records: {"field":"data.status","op":"eq","value":"open"}',
    having: 'a filter of the groups: {"field":"count","op":"gt","value":1}',
    sort: '<names> names of results and group keys, such as -count',
    limit: '<count> groups per page, 1 to 1000',
    offset: '<count> groups to skip',
    include_total: 'also count all groups',
  },
  show: ({ body }) => {
    const { data, meta } = body as Page
    showRows(data, Object.keys(data[0] ?? {}))
    if (meta.total !== undefined) note(`${data.length} of ${meta.total}\n`)
    if (meta.has_more) note(`There are more: --offset ${meta.offset + data.length}\n`)
  },
})
