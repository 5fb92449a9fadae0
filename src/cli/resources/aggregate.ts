/** Command `plinth aggregate <type>`. */
import { FUNCTIONS, INTERVALS } from '../../contract/aggregate-functions.ts'
import type { Row } from '../command/command.ts'
import { misused } from '../command/failure.ts'
import { count, json, type Option, text } from '../command/options.ts'
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

export const aggregate: Row = {
  name: 'aggregate',
  summary: 'Count, sum and compare the records of a type, by group',
  method: 'POST',
  path: '/:base_id/records/:record_type/aggregate',
  options: [
    aggregation,
    group,
    json(
      '--filter <json>',
      'filter',
      'a filter of the records: {"field":"data.status","op":"eq","value":"open"}',
    ),
    json('--having <json>', 'having', 'a filter of the groups: {"field":"count","op":"gt","value":1}'),
    text('--sort <names>', 'sort', 'names of results and group keys, such as -count'),
    text('--as-of <time>', 'as_of', 'state at this time, such as 2026-01-31T09:30:00Z'),
    count('--limit <count>', 'limit', 'groups per page, 1 to 1000'),
    count('--offset <count>', 'offset', 'groups to skip'),
    { flags: '--include-total', about: 'also count all groups', to: { body: 'include_total' }, value: true },
  ],
  show: ({ body }) => {
    const { data, meta } = body as Page
    showRows(data, Object.keys(data[0] ?? {}))
    if (meta.total !== undefined) note(`${data.length} of ${meta.total}\n`)
    if (meta.has_more) note(`There are more: --offset ${meta.offset + data.length}\n`)
  },
}
