/** Commands of records. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'
import { operations } from '../command/options.ts'
import { noteMore, show, showRows } from '../command/print.ts'
import { showHistory } from '../command/show-changes.ts'
import { showRecordPage } from '../command/show-records.ts'
import { listed } from './query.ts'

type Found = {
  relationship: { rel_type: string }
  record: { record_type?: string; id?: string; data?: unknown }
  depth: number
}
type Page = { data: Found[]; meta: { has_more: boolean; offset: number; total?: number } }

const related = commandOf('records.related', 'related', {
  summary: 'Show related records, nearest first',
  says: {
    rel_type: '<type> follow relationships of this type only',
    direction: '<direction> outgoing, incoming or both (default: outgoing)',
    record_type: '<type> show only records of this type',
    depth: '<count> maximum number of hops, 1 to 5',
  },
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
})

const ONE = '/:base_id/records/:record_type/:id'
const written = {
  data: 'the content',
  relationships: 'relationships to add: [{"rel_type","record_type","id"}]',
}
const claimed = { claim_id: '<id> write only while this claim on the record is held' }

/** Columns of a list in a pipe. */
const COLUMNS = ['id', 'status', 'version', 'external_id', 'updated_at', 'data']

export const record: Noun = {
  name: 'record',
  summary: 'Records: the data itself',
  columns: COLUMNS,
  rows: [
    commandOf('records.list', 'list', {
      says: listed,
      show: async (answer, asked) =>
        process.stdout.isTTY ? showRecordPage(answer, asked) : show(answer, COLUMNS),
    }),
    commandOf('records.get', 'get', { summary: 'Show a record, now or at a time', says: listed }),
    related,
    commandOf('records.history', 'history', { show: showHistory }),
    commandOf('records.upsert', 'put', {
      summary: 'Create or replace a record, by its id or its external id',
      path: `${ONE}?`,
      says: { ...written, ...claimed },
    }),
    commandOf('records.create', 'create', {
      says: { ...written, id: '<id> its id (default: made by the server)' },
    }),
    commandOf('records.update', 'patch', {
      needsBody: true,
      says: {
        data: 'a merge patch of the content',
        append: 'members to append to lists: {"tags":["x"]}',
        remove: 'members to remove from lists',
        ...claimed,
      },
      also: [operations],
    }),
    commandOf('records.cancel', 'cancel', { summary: 'Cancel a record: it stays readable', says: claimed }),
    commandOf('records.restore', 'restore', { says: claimed }),
    commandOf('records.delete', 'delete', { says: claimed }),
  ],
}
