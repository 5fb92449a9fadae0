/** Command that lists the calls of a base. */
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
