-- The indexes of due deliveries, of an order that only the look for them asks for. Without planner statistics, the index
-- of the newest deliveries looked as good: it reads the whole backlog of a trigger.
DROP INDEX plinth.trigger_delivery_due;
CREATE INDEX trigger_delivery_due ON plinth.trigger_delivery (base_id, trigger_id COLLATE "POSIX", next_attempt_at, id)
  WHERE next_attempt_at IS NOT NULL;
DROP INDEX plinth.trigger_delivery_forced;
CREATE INDEX trigger_delivery_forced ON plinth.trigger_delivery (base_id, trigger_id COLLATE "POSIX", next_attempt_at, id)
  WHERE is_forced AND next_attempt_at IS NOT NULL;
