-- Tests and replays that are due. They are sent even if the trigger is off, whose other deliveries may be many.
CREATE INDEX trigger_delivery_forced ON plinth.trigger_delivery (base_id, trigger_id, next_attempt_at, id)
  WHERE is_forced AND next_attempt_at IS NOT NULL;
