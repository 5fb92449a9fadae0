import type { Row } from '../command/command.ts'
import { paging, query } from '../command/options.ts'
import { note, showRows } from '../command/print.ts'

type Found = {
  relationship: { rel_type: string }
  record: { record_type?: string; id?: string; data?: unknown }
  depth: number
}
type Page = { data: Found[]; meta: { has_more: boolean; offset: number; total?: number } }

/** Command `plinth record related <type> <id>`. */
export const related: Row = {
  name: 'related',
  summary: 'Show related records, nearest first',
  method: 'GET',
  path: '/:base_id/records/:record_type/:id/related',
  options: [
    query('--rel-type <type>', 'rel_type', 'follow relationships of this type only'),
    query('--direction <direction>', 'direction', 'outgoing, incoming or both (default: outgoing)'),
    query('--record-type <type>', 'record_type', 'show only records of this type'),
    query('--depth <count>', 'depth', 'maximum number of hops, 1 to 5'),
    query('--filter <json>', 'filter', '{"field":"data.status","op":"eq","value":"open"}'),
    query('--sort <fields>', 'sort', 'such as -data.amount,created_at'),
    query('--fields <names>', 'fields', 'fields to show, such as id,data.name'),
    ...paging,
  ],
  show: ({ body }) => {
    const { data, meta } = body as Page
    const rows = data.map(({ depth, relationship: { rel_type }, record: { record_type, id, data } }) => ({
      depth,
      rel_type,
      record_type,
      id,
      data,
    }))
    showRows(rows, ['depth', 'rel_type', 'record_type', 'id', 'data'])
    if (meta.total !== undefined) note(`${data.length} of ${meta.total}\n`)
    if (meta.has_more) note(`There are more: --offset ${meta.offset + data.length}\n`)
  },
}
