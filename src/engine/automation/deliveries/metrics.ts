/** Numbers of deliveries for monitoring, kept for some seconds. */
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'

export type DeliveryNumbers = {
  readonly counts: readonly { readonly kind: string; readonly status: string; readonly count: number }[]
  /** How long the delivery that has waited longest is overdue; 0 if none is. */
  readonly oldestDueSeconds: number
}

// Those that succeeded are not counted: they are most, and an index would be read from end to end. The others are counted
// up to a limit, each status of a base in its part of an index.
const COUNTS = statement(
  'count_deliveries',
  `SELECT 'trigger' AS kind, s.status, coalesce(sum(n.count), 0)::int AS count
   FROM unnest(ARRAY['pending', 'failed', 'dead']) AS s (status)
   LEFT JOIN (SELECT DISTINCT base_id FROM plinth.trigger) b ON true
   LEFT JOIN LATERAL (SELECT count(*) FROM (
     SELECT FROM plinth.trigger_delivery d WHERE d.base_id = b.base_id AND d.status = s.status LIMIT ${LIMITS.deliveriesCounted}) c) n ON true
   GROUP BY s.status
   UNION ALL
   SELECT 'inbound_webhook', 'failed', coalesce(sum(n.count), 0)::int
   FROM (SELECT DISTINCT base_id FROM plinth.inbound_webhook) b
   CROSS JOIN LATERAL (SELECT count(*) FROM (
     SELECT FROM plinth.inbound_delivery d WHERE d.base_id = b.base_id AND d.status = 'failed' LIMIT ${LIMITS.deliveriesCounted}) c) n`,
)
const OLDEST = statement(
  'oldest_due_delivery',
  `SELECT coalesce(extract(epoch FROM statement_timestamp() - min(d.next_attempt_at)), 0)::float8 AS seconds
   FROM plinth.trigger t CROSS JOIN LATERAL (
     SELECT d.next_attempt_at FROM plinth.trigger_delivery d
     WHERE d.base_id = t.base_id AND d.trigger_id COLLATE "POSIX" = t.id AND NOT d.is_held AND d.next_attempt_at <= statement_timestamp()
     ORDER BY d.next_attempt_at, d.id LIMIT 1) d
   WHERE t.enabled AND t.disabled_reason IS NULL AND NOT t.calls_production`,
)

/** Reads the numbers, at most every few seconds. */
export function openDeliveryNumbers(db: Db): () => Promise<DeliveryNumbers> {
  let known: { readonly at: number; readonly numbers: Promise<DeliveryNumbers> } | undefined
  const readNumbers = async (): Promise<DeliveryNumbers> => {
    const counts = await db.query<DeliveryNumbers['counts'][number]>(COUNTS, [])
    const [oldest] = await db.query<{ seconds: number }>(OLDEST, [])
    return { counts, oldestDueSeconds: oldest?.seconds ?? 0 }
  }
  return () => {
    if (!known || performance.now() - known.at > LIMITS.metricsMs)
      known = { at: performance.now(), numbers: readNumbers() }
    return known.numbers
  }
}
