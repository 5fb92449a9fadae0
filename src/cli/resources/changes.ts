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
  summary: 'Read the change log of a base, or follow it as it grows',
  method: 'GET',
  path: '/:base_id/changes',
  options: [
    parameter('--after <seq>', 'after', 'what comes after this entry'),
    parameter('--record-type <type>', 'record_type', "only this type's records"),
    parameter('--id <id>', 'id', 'only the thing with this id'),
    parameter('--kind <kind>', 'kind', 'only this kind of thing, such as record'),
    parameter('--actor <token>', 'actor', 'only what this token did: its id, or its name'),
    parameter('--since <time>', 'since', 'from this moment on'),
    parameter('--until <time>', 'until', 'before this moment'),
    { ...parameter('--limit <count>', 'limit', 'entries a page, 1 to 1000'), conflicts: 'follow' },
    {
      flags: '--follow',
      about: 'go on without end: one entry a line, with --json as JSON',
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
  summary: 'Revert a change of a record, a relationship or configuration: it becomes what it was before',
  method: 'POST',
  path: '/:base_id/changes/:seq/revert',
  options: [
    {
      flags: '--force',
      about: 'also when later changes stand on it, which it takes back with it',
      to: { query: 'force' },
      value: 'true',
    },
    parameter('--on-invalid <allow>', 'on_invalid', 'allow: keep what the former schema of a type refuses'),
    confirm,
    ...writing,
  ],
}
