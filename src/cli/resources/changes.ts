import type { Row } from '../command/command.ts'
import { confirm, query as parameter, writing } from '../command/options.ts'
import { note, showLine, showRows } from '../command/print.ts'

type Entry = {
  seq: number
  at: string
  operation: string
  kind: string
  record_type: string | null
  id: string
  version: number
  actor: { name: string; via: string }
}
type Page = { data: Entry[]; meta: { has_more: boolean; next_after: number } }

const COLUMNS = ['seq', 'at', 'operation', 'kind', 'record_type', 'id', 'version', 'actor']
const flat = (entry: Entry) => ({ ...entry, actor: `${entry.actor.name} (${entry.actor.via})` })

/** Command `plinth changes`. */
export const changes: Row = {
  name: 'changes',
  summary: 'Read or stream the change log of a base',
  method: 'GET',
  path: '/:base_id/changes',
  options: [
    parameter('--after <seq>', 'after', 'entries after this seq'),
    parameter('--record-type <type>', 'record_type', 'only records of this type'),
    parameter('--id <id>', 'id', 'only the resource with this id'),
    parameter('--kind <kind>', 'kind', 'only this kind of resource, such as record'),
    parameter('--actor <token>', 'actor', 'only changes made by this token: its id or its name'),
    parameter('--since <time>', 'since', 'from this time on'),
    parameter('--until <time>', 'until', 'before this time'),
    { ...parameter('--limit <count>', 'limit', 'entries per page, 1 to 1000'), conflicts: 'follow' },
    {
      flags: '--follow',
      about: 'stream new entries, one per line; with --json as JSON',
      to: { stream: '/stream' },
    },
  ],
  show: ({ body }) => {
    const { data, meta } = body as Page
    showRows(data.map(flat), COLUMNS)
    if (meta.has_more) note(`There are more: --after ${meta.next_after}\n`)
  },
  showEntry: (entry) => {
    const row = flat(entry as Entry)
    showLine(COLUMNS.map((column) => row[column as keyof typeof row]))
  },
}

/** Command `plinth revert <seq>`. */
export const revert: Row = {
  name: 'revert',
  summary:
    'Revert a change of a record, a relationship or configuration: restore the state before the change',
  method: 'POST',
  path: '/:base_id/changes/:seq/revert',
  options: [
    {
      flags: '--force',
      about: 'also if later changes followed: they are reverted too',
      to: { query: 'force' },
      value: 'true',
    },
    parameter('--on-invalid <allow>', 'on_invalid', 'allow: keep data that violates the restored schema'),
    confirm,
    ...writing,
  ],
}
