-- The deliveries of a change, for its trace. Entries arrive in order of the log, at the end of the index.
CREATE INDEX trigger_delivery_of_change ON plinth.trigger_delivery (base_id, change_seq, trigger_id, id) WHERE change_seq IS NOT NULL;
