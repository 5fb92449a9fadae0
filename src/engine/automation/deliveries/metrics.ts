/** Numbers of deliveries for monitoring: parts of the one statement that measures the database. */
import { LIMITS } from '../../../foundation/limits.ts'

export type DeliveryCount = { readonly kind: string; readonly status: string; readonly count: number }

// Those that succeeded are not counted: they are most, and an index would be read from end to end. The others are counted
// up to a limit, each status of a base in its part of an index.
export const DELIVERY_COUNTS = `SELECT 'trigger' AS kind, s.status, coalesce(sum(n.count), 0)::int AS count
   FROM unnest(ARRAY['pending', 'failed', 'dead']) AS s (status)
   LEFT JOIN (SELECT DISTINCT base_id FROM plinth.trigger) b ON true
   LEFT JOIN LATERAL (SELECT count(*) FROM (
     SELECT FROM plinth.trigger_delivery d WHERE d.base_id = b.base_id AND d.status = s.status LIMIT ${LIMITS.deliveriesCounted}) c) n ON true
   GROUP BY s.status
   UNION ALL
   SELECT 'inbound_webhook', 'failed', coalesce(sum(n.count), 0)::int
   FROM (SELECT DISTINCT base_id FROM plinth.inbound_webhook) b
   CROSS JOIN LATERAL (SELECT count(*) FROM (
     SELECT FROM plinth.inbound_delivery d WHERE d.base_id = b.base_id AND d.status = 'failed' LIMIT ${LIMITS.deliveriesCounted}) c) n`

/** Seconds for which the delivery that has waited longest is overdue; 0 if none is. */
export const OLDEST_DUE = `SELECT coalesce(extract(epoch FROM statement_timestamp() - min(d.next_attempt_at)), 0)::float8
   FROM plinth.trigger t CROSS JOIN LATERAL (
     SELECT d.next_attempt_at FROM plinth.trigger_delivery d
     WHERE d.base_id = t.base_id AND d.trigger_id COLLATE "POSIX" = t.id AND NOT d.is_held AND d.next_attempt_at <= statement_timestamp()
     ORDER BY d.next_attempt_at, d.id LIMIT 1) d
   WHERE t.enabled AND t.disabled_reason IS NULL AND NOT t.calls_production`

/** Seconds for which the oldest change waits to be matched with the triggers of its base; 0 if none does. */
export const OLDEST_UNMATCHED = `SELECT coalesce(extract(epoch FROM statement_timestamp() - min(c.at)), 0)::float8
   FROM plinth.trigger_relay r CROSS JOIN LATERAL (
     SELECT c.at FROM plinth.change c WHERE c.base_id = r.base_id AND c.seq > r.seq ORDER BY c.seq LIMIT 1) c
   WHERE EXISTS (SELECT FROM plinth.trigger t WHERE t.base_id = r.base_id AND t.enabled AND t.disabled_reason IS NULL AND NOT t.calls_production)`
