import { localTime } from '../command/local-time.ts'
import { commandOf, optionsOf } from '../command/operations.ts'
import { queryJson } from '../command/options.ts'
import { note, printLine, show, showLine, showRows } from '../command/print.ts'
import { type Actor, actorCell, type ChangeStep, changedText } from '../command/show-changes.ts'

type Entry = {
  seq: number
  at: string
  operation: string
  kind: string
  record_type: string | null
  id: string
  version: number
  actor: Actor
  diff: readonly ChangeStep[]
}
type Group = {
  request_id: string
  call: { tool: string } | null
  actor: Actor
  last_at: string
  last_seq: number
  count: number
  by: { kind: string; record_type: string | null; operation: string; count: number }[]
  undone: number
  undone_by: string | null
  proposed?: { name: string }[]
}
type Page = {
  data: Entry[] | Group[]
  meta: { has_more: boolean; next_after?: number; next_before?: number }
}

const COLUMNS = ['seq', 'at', 'operation', 'kind', 'record_type', 'id', 'version', 'actor', 'changed']
const GROUP_COLUMNS = [
  'last_seq',
  'last_at',
  'request_id',
  'tool',
  'actor',
  'proposed',
  'count',
  'changes',
  'undone_by',
]
const flat = (entry: Entry) => ({
  ...entry,
  actor: actorCell(entry.actor),
  changed: changedText(entry.diff) || null,
})

/** A line as a person reads it: `17:24:03  agent (mcp)  update ticket t2  priority: normal → high`. It is not cut. */
function showEntryLine(entry: Entry): void {
  const { seq, at, actor, operation, record_type: type, kind, id } = entry
  const changed = operation === 'update' ? changedText(entry.diff) : ''
  const parts = [`${seq}`, localTime(at), actorCell(actor), `${operation} ${type ?? kind} ${id}`, changed]
  printLine(parts.filter((part) => part !== '').join('  '))
}

const flatGroup = (group: Group) => ({
  ...group,
  tool: group.call?.tool ?? null,
  actor: actorCell(group.actor),
  proposed: group.proposed?.map(({ name }) => name).join(', ') ?? null,
  undone_by: group.undone_by ?? (group.undone > 0 ? `${group.undone} of ${group.count}` : null),
  changes: group.by
    .map(({ kind, record_type, operation, count }) => `${count} ${operation} ${record_type ?? kind}`)
    .join(', '),
})

/** What a stream does not take. */
const PAGE = {
  before: '<seq> entries before this seq',
  order: '<asc|desc> desc: the newest first',
  include: '<parts> before: the values that a change replaced; titles; fields, of groups (with --json)',
  group: '<request> request: one line per request, newest first',
  limit: '<count> entries per page, 1 to 1000',
}

/** Command `plinth changes`. */
export const changes = commandOf('changes.list', 'changes', {
  summary: 'Read or stream the change log of a base',
  says: {
    after: '<seq> entries after this seq',
    record_type: '<type> only records of this type',
    id: '<id> only the resource with this id',
    kind: '<kind> only this kind of resource, such as record',
    actor: '<token> only changes made by this token: its id or its name',
    actor_kind: '<kind> only changes of a person, an agent or a program',
    operation: '<operation> only this operation, such as delete',
    request_id: '<id> only changes of this request',
  },
  without: Object.keys(PAGE),
  also: [
    ...optionsOf('changes.list', { says: PAGE, only: Object.keys(PAGE) }).map((option) => ({
      ...option,
      conflicts: 'follow',
    })),
    queryJson(
      '--condition <filter>',
      'condition',
      'with --follow: a filter, with previous. for the record before',
    ),
    {
      flags: '--follow',
      about: 'stream new entries, one per line; with --json as JSON',
      to: { stream: '/stream' },
    },
  ],
  show: ({ body }) => {
    const { data, meta } = body as Page
    const isGrouped = data.some((each) => 'by' in each)
    if (isGrouped) showRows((data as Group[]).map(flatGroup), GROUP_COLUMNS)
    else if (process.stdout.isTTY) for (const entry of data as Entry[]) showEntryLine(entry)
    else showRows((data as Entry[]).map(flat), COLUMNS)
    const next =
      meta.next_before === undefined ? `--after ${meta.next_after}` : `--before ${meta.next_before}`
    if (meta.has_more) note(`There are more: ${next}\n`)
  },
  // The values before a change are shown, and a client of JSON asks for them.
  forShow: (query) => {
    const parts = query.get('include')?.split(',') ?? []
    if (!query.has('group')) query.set('include', [...new Set(['before', ...parts])].join(','))
  },
  showEntry: (entry) => {
    if (process.stdout.isTTY) return showEntryLine(entry as Entry)
    const row = flat(entry as Entry)
    showLine(COLUMNS.map((column) => row[column as keyof typeof row]))
  },
})

type Step = {
  kind: string
  of: string | null
  id: string
  depth: number
  at: string | null
  status: string | null
  change: { kind: string; record_type: string | null; id: string; operation: string } | null
  actor: Actor | null
}

/** A step as a row: causes have negative depths. */
const flatStep = ({ change, actor, depth, ...step }: Step, way: -1 | 1) => ({
  ...step,
  depth: way * depth,
  what: change ? `${change.operation} ${change.record_type ?? change.kind} ${change.id}` : step.of,
  actor: actor && actorCell(actor),
})

/** Command `plinth trace <seq>`. */
export const trace = commandOf('changes.trace', 'trace', {
  says: { depth: '<count> steps in each direction, 1 to 10' },
  show: ({ body }) => {
    const { change, causes, effects, truncated } = body as {
      change: Entry
      causes: Step[]
      effects: Step[]
      truncated: boolean
    }
    const own = {
      ...change,
      of: null,
      id: String(change.seq),
      kind: 'change',
      depth: 0,
      status: null,
      change,
    }
    const rows = [
      ...causes.toReversed().map((step) => flatStep(step, -1)),
      flatStep(own, 1),
      ...effects.map((step) => flatStep(step, 1)),
    ]
    showRows(rows, ['depth', 'kind', 'id', 'what', 'status', 'at', 'actor'])
    if (truncated) note('There are more steps.\n')
  },
})

type Reverted = {
  reverts: number
  kind: string
  record_type: string | null
  id: string
  operation: string
  diff?: readonly ChangeStep[]
}
type Effect = { id: string; of: string; status: string }
type Undo = {
  last?: { request_id: string; at: string; via: string; tool: string | null }
  count: number
  by: Group['by']
  data: Reverted[]
  also: Reverted[]
  effects?: { deliveries: Effect[]; runs: Effect[] }
  skipped: { seq: number; record_type: string | null; kind: string; id: string; message: string }[]
  secrets?: { kind: string; id: string; secret: string | null }[]
  dry_run?: true
}

function showUndo({ last, count, data, also, effects, skipped, secrets = [], dry_run }: Undo): void {
  if (last) note(`request ${last.request_id} of ${last.at} (${last.tool ?? last.via})\n`)
  const columns = ['reverts', 'operation', 'kind', 'record_type', 'id']
  const rows = [...data, ...also].map(({ diff, ...each }) => ({
    ...each,
    changed: changedText(diff ?? []) || null,
  }))
  showRows(rows, dry_run ? [...columns, 'changed'] : columns)
  for (const { of, id, status } of effects?.deliveries ?? [])
    note(`stays sent: delivery ${id} of ${of} (${status})\n`)
  for (const { of, id, status } of effects?.runs ?? [])
    note(`what it sent stays sent: run ${id} of ${of} (${status})\n`)
  for (const { seq, record_type, kind, id, message } of skipped)
    note(`skipped ${record_type ?? kind} ${id} (change ${seq}): ${message}\n`)
  if (secrets.length > 0) showRows(secrets, ['kind', 'id', 'secret'])
  note(`${count} ${dry_run ? 'would be reverted' : 'reverted'}\n`)
}

/** Command `plinth revert [seq]`. */
export const revert = commandOf('changes.revert', 'revert', {
  summary: 'Revert a change; without its seq, all changes of a request or of an actor since a time',
  path: '/:base_id/changes/:seq?/revert',
  pathWithout: '/:base_id/revert',
  says: {
    force: 'also if later changes followed: they are reverted too',
    on_invalid: '<allow> allow: keep data that violates the restored schema',
  },
  also: optionsOf('changes.revertAll', {
    says: {
      request_id: '<id> all changes of this request',
      actor: '<token> all changes of this token, by id or name: with --since or --until',
      record_type: '<type> only changes of records of this type',
      last: 'the last request of this token that is not undone',
      on_conflict:
        '<fail|skip|force> skip: leave what was changed since, and list it; force: take that back too',
      with_effects: 'also what triggers and actions did because of it',
    },
    without: ['dry_run', 'idempotency-key'],
  }),
  show: (answer) => ('skipped' in (answer.body as object) ? showUndo(answer.body as Undo) : show(answer, [])),
})
