-- Inbound webhooks: doors for payloads of other systems, which become records.
CREATE TABLE plinth.inbound_webhook (
  base_id     text COLLATE "C" NOT NULL,
  id          text COLLATE "C" NOT NULL,
  name        text NOT NULL,
  record_type text COLLATE "C" NOT NULL,
  -- `json`, not `jsonb`: the order of keys is the author's.
  signature   json NOT NULL,
  mapping     json,
  enabled     boolean NOT NULL,
  -- Encrypted.
  secret      text NOT NULL,
  version     integer NOT NULL DEFAULT 1,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT inbound_webhook_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT inbound_webhook_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX inbound_webhook_newest ON plinth.inbound_webhook (base_id, created_at, id);

-- What arrived: a delivery is written in the transaction of its records, or alone if it failed.
CREATE TABLE plinth.inbound_delivery (
  base_id         text COLLATE "C" NOT NULL,
  webhook_id      text COLLATE "C" NOT NULL,
  id              text COLLATE "C" NOT NULL,
  -- The id that the sender gave it, if the scheme has one.
  delivery_id     text COLLATE "C",
  status          text NOT NULL,
  attempts        integer NOT NULL DEFAULT 1,
  -- The records that it wrote: [{ id, operation }].
  records         jsonb,
  error           json,
  -- The raw body of one that failed, for a replay.
  body            bytea,
  -- The start of it, as it is shown.
  excerpt         text,
  content_type    text,
  request_id      text NOT NULL,
  last_attempt_at timestamptz(3) NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  CONSTRAINT inbound_delivery_pkey PRIMARY KEY (base_id, webhook_id, id),
  CONSTRAINT inbound_delivery_status CHECK (status IN ('succeeded', 'failed')),
  CONSTRAINT inbound_delivery_webhook FOREIGN KEY (base_id, webhook_id) REFERENCES plinth.inbound_webhook (base_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX inbound_delivery_once ON plinth.inbound_delivery (base_id, webhook_id, delivery_id) WHERE delivery_id IS NOT NULL;
CREATE INDEX inbound_delivery_newest ON plinth.inbound_delivery (base_id, webhook_id, created_at, id);
CREATE INDEX inbound_delivery_failed ON plinth.inbound_delivery (base_id, webhook_id, created_at) WHERE status = 'failed';
CREATE INDEX inbound_delivery_age ON plinth.inbound_delivery (created_at);
