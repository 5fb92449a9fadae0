import type { Row } from '../command/command.ts'
import { count, flag, json, list, text } from '../command/options.ts'
import { noteMore } from '../command/print.ts'
import { showRecords } from '../command/show-records.ts'
import { aggregation, group } from './aggregate.ts'

type Page = { data: Record<string, unknown>[]; meta: { has_more: boolean; offset: number; total?: number } }

/** Command `plinth query-bases <type>`. */
export const queryBases: Row = {
  name: 'query-bases',
  summary: 'Query or aggregate the records of a type in several bases',
  method: 'POST',
  path: '/accounts/default/query',
  argument: 'record_type',
  options: [
    { ...list('--bases <ids>', 'bases', 'the bases; * is all that the token may read'), required: true },
    json('--filter <json>', 'filter', '{"field":"data.status","op":"eq","value":"open"}'),
    text('--sort <fields>', 'sort', 'such as -data.amount,created_at'),
    list('--fields <names>', 'fields', 'fields to show, such as id,data.name'),
    { ...aggregation, required: false },
    group,
    json('--having <json>', 'having', 'a filter of the groups'),
    count('--limit <count>', 'limit', 'rows per page, 1 to 1000'),
    count('--offset <count>', 'offset', 'rows to skip'),
    flag('--include-total', 'include_total', 'also count all matches', true),
  ],
  show: async ({ body }, asked) => {
    const { data, meta } = body as Page
    const others = ['base_id', ...Object.keys(data[0] ?? {}).filter((name) => !RECORD.has(name))]
    await showRecords(data, asked, [...new Set(others)])
    noteMore(data.length, meta)
  },
}

/** Fields of records, which `showRecords` places. What remains are results of an aggregate. */
const RECORD = new Set(
  'base_id id record_type data created_at updated_at external_id external_source version status cancelled_at valid'.split(
    ' ',
  ),
)
