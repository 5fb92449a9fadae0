-- The id of the sender first: without planner statistics, an index that begins with the webhook looks as good, and reads
-- all its deliveries.
DROP INDEX plinth.inbound_delivery_once;
CREATE UNIQUE INDEX inbound_delivery_once ON plinth.inbound_delivery (delivery_id, base_id, webhook_id) WHERE delivery_id IS NOT NULL;
