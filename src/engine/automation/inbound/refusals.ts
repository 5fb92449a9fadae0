/** Counts deliveries whose signature was refused, for the webhook that they were sent to. They leave nothing else. */

import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import { type Db, statement } from '../../storage/database/client.ts'

const COUNT = statement(
  'count_refused_deliveries',
  `UPDATE plinth.inbound_webhook w SET refused = coalesce(w.refused, 0) + k.refused, last_refused_at = k.at
   FROM unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[]) AS k (base_id, id, refused, at)
   WHERE w.base_id = k.base_id AND w.id = k.id`,
)

type Count = { readonly baseId: string; readonly id: string; refused: number; at: Date }
export type Refusals = ReturnType<typeof openRefusals>

/** Opens the counts, which are stored together every few seconds: a refusal costs no statement of its own. */
export function openRefusals(db: Db, log: Log) {
  const counts = new Map<string, Count>()
  let timer: NodeJS.Timeout | undefined
  const store = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const due = [...counts.values()].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    counts.clear()
    if (due.length === 0) return
    await db
      .query(COUNT, [
        due.map(({ baseId }) => baseId),
        due.map(({ id }) => id),
        due.map(({ refused }) => refused),
        due.map(({ at }) => at),
      ])
      .catch((err: unknown) => log.warn({ err }, 'refused deliveries were not counted'))
  }
  return {
    /** Counts one for a webhook that exists, so that there are no more counts than webhooks. */
    add({ baseId, id }: { readonly baseId: string; readonly id: string }): void {
      const key = keyOf({ baseId, id })
      const count = counts.get(key) ?? { baseId, id, refused: 0, at: new Date() }
      counts.set(key, Object.assign(count, { refused: count.refused + 1, at: new Date() }))
      timer ??= setTimeout(() => void store(), LIMITS.refusalsStoreMs).unref()
    },
    close: store,
  }
}

const keyOf = ({ baseId, id }: Pick<Count, 'baseId' | 'id'>): string => `${baseId}/${id}`
