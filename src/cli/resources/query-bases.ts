import { commandOf } from '../command/operations.ts'
import { noteMore } from '../command/print.ts'
import { showRecords } from '../command/show-records.ts'
import { aggregation, group } from './aggregate.ts'

type Page = { data: Record<string, unknown>[]; meta: { has_more: boolean; offset: number; total?: number } }

/** Command `plinth query-bases <type>`. */
export const queryBases = commandOf('records.queryAcrossBases', 'query-bases', {
  summary: 'Query or aggregate the records of a type in several bases',
  path: '/accounts/default/query',
  argument: 'record_type',
  says: {
    bases: '<ids> the bases; * is all that the token may read',
    aggregations: { ...aggregation, required: false },
    group_by: group,
    having: 'a filter of the groups',
    limit: '<count> rows per page, 1 to 1000',
    offset: '<count> rows to skip',
  },
  show: async ({ body }, asked) => {
    const { data, meta } = body as Page
    const others = ['base_id', ...Object.keys(data[0] ?? {}).filter((name) => !RECORD.has(name))]
    await showRecords(data, asked, [...new Set(others)])
    noteMore(data.length, meta)
  },
})

/** Fields of records, which `showRecords` places. What remains are results of an aggregate. */
const RECORD = new Set(
  'base_id id record_type data created_at updated_at external_id external_source version status cancelled_at valid'.split(
    ' ',
  ),
)
