-- A first attempt waits for the one before it of the same trigger and record: it is held, and not in the index of what is due.
ALTER TABLE plinth.trigger_delivery ADD COLUMN is_held boolean NOT NULL DEFAULT false;
DROP INDEX plinth.trigger_delivery_due;
CREATE INDEX trigger_delivery_due ON plinth.trigger_delivery (base_id, trigger_id COLLATE "POSIX", next_attempt_at, id)
  WHERE next_attempt_at IS NOT NULL AND NOT is_held;
-- First attempts that are to be made, in the order of the changes of a record.
CREATE INDEX trigger_delivery_first ON plinth.trigger_delivery (base_id, trigger_id, record_type, record_id, change_seq)
  WHERE attempts = 0 AND next_attempt_at IS NOT NULL AND NOT is_forced;

-- The deliveries of a base by status, and those of a record.
CREATE INDEX trigger_delivery_of_base ON plinth.trigger_delivery (base_id, status, created_at, id);
CREATE INDEX trigger_delivery_of_record ON plinth.trigger_delivery (base_id, record_type, record_id, created_at, id);
CREATE INDEX inbound_delivery_of_base ON plinth.inbound_delivery (base_id, status, created_at, id);

-- A former secret is valid for a day after a rotation. Deliveries whose signature was refused are counted, and leave nothing else.
ALTER TABLE plinth.inbound_webhook
  ADD COLUMN former_secret text,
  ADD COLUMN former_secret_until timestamptz(3),
  ADD COLUMN refused bigint,
  ADD COLUMN last_refused_at timestamptz(3);

-- What was changed in a payload so that it could be stored. The start of a body is kept for a day where it succeeded.
ALTER TABLE plinth.inbound_delivery ADD COLUMN warnings json;
CREATE INDEX inbound_delivery_excerpts ON plinth.inbound_delivery (last_attempt_at) WHERE status = 'succeeded' AND excerpt IS NOT NULL;
