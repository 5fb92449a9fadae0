/** Commands that list the calls of a base, and how much was used. */
import { commandOf } from '../command/operations.ts'
import { note, showRows } from '../command/print.ts'
import { type Actor, actorCell } from '../command/show-changes.ts'

type Call = { actor: Actor; tool: string | null; route: string | null }
type Page = { data: Call[]; meta: { next_before?: string } }

const COLUMNS = ['at', 'actor', 'call', 'outcome', 'ms', 'changes', 'message', 'id']

/** Command `plinth calls`. */
export const calls = commandOf('calls.list', 'calls', {
  summary: 'List the calls of a base, newest first: of tools, and other requests that were refused',
  says: {
    token: '--actor <token> only calls of this token: its id or its name',
    tool: '<name> only calls of this MCP tool',
    endpoint: '<id> only calls at this endpoint',
    outcome: '<outcome> only this outcome: ok, a code, or failed for any failure',
    request_id: '<id> only calls of this request',
    before: '<id> calls before this one',
    limit: '<count> calls per page, 1 to 1000',
  },
  show: ({ body }) => {
    const { data, meta } = body as Page
    showRows(
      data.map((call) => ({ ...call, actor: actorCell(call.actor), call: call.tool ?? call.route })),
      COLUMNS,
    )
    if (meta.next_before !== undefined) note(`There are more: --before ${meta.next_before}\n`)
  },
})

type Used = { at: string; token?: { name: string } | null }

/** Command `plinth usage`. */
export const usage = commandOf('calls.usage', 'usage', {
  summary: 'Say how much was used of a base: calls, failures, changes, bytes and time',
  says: {
    interval: '<interval> a row for each hour or day; without it, one for the whole time',
    by: '<key> a row for each token, endpoint, tool or surface',
    token: '--actor <token> only use by this token: its id or its name',
    tool: '<name> only use of this MCP tool',
    endpoint: '<id> only use of this endpoint',
  },
  show: ({ body }) => {
    const { data } = body as { data: Used[] }
    showRows(
      data.map((used) => ({ ...used, ...(used.token && { token: used.token.name }) })),
      USAGE_COLUMNS.filter((name) => data.some((used) => name in used)),
    )
  },
})
const USAGE_COLUMNS = [
  'at',
  'token',
  'endpoint',
  'tool',
  'surface',
  'calls',
  'failed',
  'reads',
  'changes',
  'bytes_in',
  'bytes_out',
  'ms',
]
