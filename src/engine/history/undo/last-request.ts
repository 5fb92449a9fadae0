/** Finds the last request of a token that an undo without a selection is about. */
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Viewer } from '../../log/entry.ts'
import type { ChangeFilter } from '../../log/filter.ts'
import { newestOf, type SeqRange, withinTimes } from '../../log/ranges.ts'
import type { Reader } from '../../log/read.ts'
import { type PackedCall, unpackCall } from '../../log/tool-call.ts'
import { visibleTo } from '../../log/visibility.ts'
import { type Db, shaped, statement } from '../../storage/database/client.ts'
import { findChanges } from './find-changes.ts'
import { stepsOf } from './plan-steps.ts'
import { mapResourceEntries } from './resource-entries.ts'

/** The request that an undo is about, if it was not named. */
export type LastRequest = { requestId: string; at: string; via: string; tool: string | null }

type Row = { request_id: string; at: string; via: string; call: PackedCall | null }

/**
 * The last request of the reader that changed something it may see, and what to find its changes by. Leaves out undos,
 * and requests of which there is nothing left to undo: so one undo after another goes further back. A request that
 * something else has overtaken counts, because an undo of the one before it would be a surprise.
 * @param until if given, as it was before this time: a plan that is confirmed twice finds its request again
 * @throws NOT_FOUND
 */
export async function findLastRequest(
  db: Db,
  baseId: string,
  viewer: Viewer,
  endpoint: string | null,
  upTo: number,
  until: string | null,
): Promise<{ last: LastRequest; reader: Reader }> {
  const { tokenId } = viewer
  if (tokenId === null) throw nothingOfToken(0)
  const own = { ...ALL, actor: tokenId, endpoint }
  const filter: ChangeFilter = { ...own, until }
  let left = await withinTimes(db, baseId, { after: 0, upTo }, filter)
  let room: number = LIMITS.undoneRequests
  let size: number = LIMITS.feedReach
  for (let seen = 0; seen < LIMITS.changesScanned && room > 0 && left.after < left.upTo; seen += size) {
    const range = await newestOf(db, baseId, left, null, size)
    const rows = await requestsIn(db, baseId, viewer, endpoint, range, until, room)
    const undos = await undosAmong(db, baseId, tokenId, rows)
    for (const { request_id: requestId, call, at, via } of rows) {
      if (undos.has(requestId)) continue
      const reader: Reader = { ...viewer, filter: { ...own, requestId } }
      if (await isUndone(db, baseId, reader, upTo, until)) continue
      return { last: { requestId, at, via, tool: unpackCall(call)?.tool ?? null }, reader }
    }
    room -= rows.length
    left = { after: left.after, upTo: range.after }
    size = LIMITS.feedLongReach
  }
  throw nothingOfToken(LIMITS.undoneRequests - room)
}

const ALL: ChangeFilter = {
  ...{ recordType: null, id: null, kind: null, operation: null, actor: null, actorKind: null },
  ...{ requestId: null, since: null, until: null, endpoint: null },
}

/** The requests of the reader in a range, newest first. */
async function requestsIn(
  db: Db,
  baseId: string,
  { access, tokenId }: Viewer,
  endpoint: string | null,
  { after, upTo }: SeqRange,
  until: string | null,
  limit: number,
): Promise<Row[]> {
  const values: unknown[] = [baseId, after, upTo, tokenId, limit]
  const bind = (value: unknown) => `$${values.push(value)}`
  const types = access.types('read', baseId)
  const conditions = [
    // They cannot be reverted: a request of nothing else would be in the way of those before it.
    `c.kind NOT IN ('attachment', 'preview', 'review_request')`,
    ...(endpoint === null ? [] : [`call ->> 2 = ${bind(endpoint)}`]),
    ...(until === null ? [] : [`at < ${bind(until)}`]),
    ...(types === '*' ? [] : [visibleTo(bind([...types]))]),
  ].map((each) => ` AND ${each}`)
  return db.query<Row>(
    shaped(
      `SELECT request_id, max(at) AS at, (array_agg(via ORDER BY c.seq DESC))[1] AS via,
         (array_agg(call ORDER BY c.seq DESC))[1] AS call
       FROM plinth.change c
       WHERE base_id = $1 AND seq > $2 AND seq <= $3 AND token_id = $4${conditions.join('')}
       GROUP BY request_id ORDER BY max(c.seq) DESC LIMIT $5`,
    ),
    values,
  )
}

/** The requests that reverted a change: the cause of an entry is a change of another request. */
const UNDOS = statement(
  'undoing_requests',
  `SELECT request_id FROM unnest($3::text[]) AS r (request_id) WHERE EXISTS (
     SELECT FROM plinth.change c
     WHERE c.base_id = $1 AND c.request_id COLLATE "C" = r.request_id COLLATE "C" AND c.token_id = $2
       AND c.cause ~ '^[0-9]{1,18}$' AND NOT EXISTS (
         SELECT FROM plinth.change o
         WHERE o.base_id = $1 AND o.seq = (CASE WHEN c.cause ~ '^[0-9]{1,18}$' THEN c.cause END)::bigint
           AND o.request_id = c.request_id))`,
)

async function undosAmong(
  db: Db,
  baseId: string,
  tokenId: string,
  rows: readonly Row[],
): Promise<ReadonlySet<string>> {
  const requests = rows.map(({ request_id }) => request_id)
  const undos = await db.query<{ request_id: string }>(UNDOS, [baseId, tokenId, requests])
  return new Set(undos.map(({ request_id }) => request_id))
}

/** Whether changes of a request are undone, and none is left that could be. */
async function isUndone(
  db: Db,
  baseId: string,
  reader: Reader,
  upTo: number,
  until: string | null,
): Promise<boolean> {
  const changes = await findChanges(db, baseId, reader, upTo, null)
  const found = await mapResourceEntries(db, baseId, changes, ({ entries, ...of }) =>
    stepsOf({ ...of, entries: entries.filter(({ at }) => until === null || at < new Date(until)) }),
  )
  const isDone = (steps: (typeof found)[number]) => !('code' in steps) && steps.length === 0
  return found.some(isDone) && found.every((steps) => 'code' in steps || steps.length === 0)
}

/** @param seen how many requests of the token were looked at */
function nothingOfToken(seen: number): DomainError {
  const why =
    seen === 0
      ? 'The change log has no request of this token that changed something it can read'
      : `All ${seen} of the latest requests of this token are undone, or are undos themselves`
  const message = `Nothing is left to undo. ${why}. Send request_id to undo the request of another.`
  return oneFault('NOT_FOUND', message, { path: '', code: 'change_not_found' })
}
