/** Commands of records. */
import type { Noun, Row } from '../command/command.ts'
import {
  createOnly,
  ifMatch,
  json,
  type Option,
  offsets,
  operations,
  paging,
  query,
  queryJson,
  snippets,
  text,
  writing,
} from '../command/options.ts'
import { noteMore, show, showRows } from '../command/print.ts'
import { showHistory } from '../command/show-history.ts'
import { showRecordPage } from '../command/show-records.ts'

type Found = {
  relationship: { rel_type: string }
  record: { record_type?: string; id?: string; data?: unknown }
  depth: number
}
type Page = { data: Found[]; meta: { has_more: boolean; offset: number; total?: number } }

/** Command `plinth record related <type> <id>`. */
const related: Row = {
  name: 'related',
  summary: 'Show related records, nearest first',
  method: 'GET',
  path: '/:base_id/records/:record_type/:id/related',
  options: [
    query('--rel-type <type>', 'rel_type', 'follow relationships of this type only'),
    query('--direction <direction>', 'direction', 'outgoing, incoming or both (default: outgoing)'),
    query('--record-type <type>', 'record_type', 'show only records of this type'),
    query('--depth <count>', 'depth', 'maximum number of hops, 1 to 5'),
    queryJson('--filter <json>', 'filter', '{"field":"data.status","op":"eq","value":"open"}'),
    query('--sort <fields>', 'sort', 'such as -data.amount,created_at'),
    query('--fields <names>', 'fields', 'fields to show, such as id,data.name'),
    ...offsets,
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
    noteMore(data.length, meta)
  },
}

const ALL = '/:base_id/records/:record_type'
const ONE = '/:base_id/records/:record_type/:id'

const content = { ...json('--data <json>', 'data', 'the content'), required: true }
const external: readonly Option[] = [
  text('--external-id <id>', 'external_id', 'its id in an external system'),
  text('--external-source <name>', 'external_source', 'the external system (default: "default")'),
]
const links = json(
  '--relationships <json>',
  'relationships',
  'relationships to add: [{"rel_type","record_type","id"}]',
)

const expand = query(
  '--expand <types>',
  'expand',
  'relationship types to expand, such as owner.company; or attachments',
)
const include = query('--include <part>', 'include', 'claim: also show the active claim')
const fromSource = query(
  '--external-source <name>',
  'external_source',
  'read from this external source of the type',
)
const asOf = query('--as-of <time>', 'as_of', 'state at this time, such as 2026-01-31T09:30:00Z')

const CLAIM = 'write only while this claim on the record is held'
const claimInBody = text('--claim-id <id>', 'claim_id', CLAIM)
const claimInQuery = query('--claim-id <id>', 'claim_id', CLAIM)

const act = (name: string, summary: string): Row => ({
  name,
  summary,
  method: 'POST',
  path: `${ONE}/${name}`,
  options: [ifMatch, claimInBody, ...writing],
})

/** Columns of a list in a pipe. */
const COLUMNS = ['id', 'status', 'version', 'external_id', 'updated_at', 'data']

export const record: Noun = {
  name: 'record',
  summary: 'Records: the data itself',
  columns: COLUMNS,
  rows: [
    {
      name: 'list',
      summary: 'List records',
      method: 'GET',
      path: ALL,
      options: [
        queryJson('--filter <json>', 'filter', '{"field":"data.status","op":"eq","value":"open"}'),
        query('--sort <fields>', 'sort', 'such as -data.amount,created_at'),
        query('--fields <names>', 'fields', 'fields to show, such as id,data.name'),
        expand,
        include,
        snippets,
        asOf,
        fromSource,
        ...paging,
      ],
      show: async (answer, asked) =>
        process.stdout.isTTY ? showRecordPage(answer, asked) : show(answer, COLUMNS),
    },
    {
      name: 'get',
      summary: 'Show a record, now or at a time',
      method: 'GET',
      path: ONE,
      options: [
        query('--version <number>', 'version', 'show this version'),
        asOf,
        expand,
        include,
        fromSource,
      ],
    },
    related,
    {
      name: 'history',
      summary: 'List the versions of a record, newest first',
      method: 'GET',
      path: `${ONE}/history`,
      options: paging,
      show: showHistory,
    },
    {
      name: 'put',
      summary: 'Create or replace a record, by its id or its external id',
      method: 'PUT',
      path: `${ONE}?`,
      options: [content, ...external, links, ifMatch, createOnly, claimInBody, ...writing],
    },
    {
      name: 'create',
      summary: 'Create a record',
      method: 'POST',
      path: ALL,
      options: [
        content,
        text('--id <id>', 'id', 'its id (default: made by the server)'),
        ...external,
        links,
        ...writing,
      ],
    },
    {
      name: 'patch',
      summary: 'Patch a record',
      method: 'PATCH',
      path: ONE,
      needsBody: true,
      options: [
        json('--data <json>', 'data', 'a merge patch of the content'),
        json('--append <json>', 'append', 'members to append to lists: {"tags":["x"]}'),
        json('--remove <json>', 'remove', 'members to remove from lists'),
        operations,
        ...external,
        ifMatch,
        claimInQuery,
        ...writing,
      ],
    },
    act('cancel', 'Cancel a record: it stays readable'),
    act('restore', 'Restore a cancelled or deleted record'),
    {
      name: 'delete',
      summary: 'Delete a record',
      method: 'DELETE',
      path: ONE,
      options: [ifMatch, claimInQuery, ...writing],
    },
  ],
}
