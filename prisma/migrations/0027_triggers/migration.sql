-- Triggers: changes of records that are sent to a URL.
CREATE TABLE plinth.trigger (
  base_id               text COLLATE "C" NOT NULL,
  id                    text COLLATE "C" NOT NULL,
  name                  text NOT NULL,
  description           text,
  record_types          jsonb NOT NULL,
  events                jsonb NOT NULL,
  -- `json`, not `jsonb`: the order of keys is the author's.
  condition             json,
  url                   text NOT NULL,
  headers               json NOT NULL,
  enabled               boolean NOT NULL,
  skip_inbound_writes   boolean NOT NULL,
  max_attempts          integer NOT NULL,
  -- Encrypted.
  secret                text NOT NULL,
  -- The secret before the last rotation, and until when deliveries are signed with it too.
  former_secret         text,
  former_secret_until   timestamptz(3),
  -- Changes up to this entry of the log came before the trigger.
  after_seq             bigint NOT NULL,
  -- What became of deliveries. It is no part of the configuration, and has no versions.
  last_success_at       timestamptz(3),
  last_failure_at       timestamptz(3),
  consecutive_failures  integer,
  failing_since         timestamptz(3),
  disabled_reason       text,
  version               integer NOT NULL DEFAULT 1,
  created_at            timestamptz(3) NOT NULL DEFAULT now(),
  updated_at            timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT trigger_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT trigger_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX trigger_newest ON plinth.trigger (base_id, created_at, id);

-- How far the log of a base has been matched with its triggers.
CREATE TABLE plinth.trigger_relay (
  base_id text COLLATE "C" NOT NULL,
  seq     bigint NOT NULL,
  CONSTRAINT trigger_relay_pkey PRIMARY KEY (base_id),
  CONSTRAINT trigger_relay_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
) WITH (fillfactor = 50);

-- Deliveries: the queue of those that are due, and the log of those that ended.
CREATE TABLE plinth.trigger_delivery (
  base_id         text COLLATE "C" NOT NULL,
  trigger_id      text COLLATE "C" NOT NULL,
  id              text COLLATE "C" NOT NULL,
  event           text NOT NULL,
  record_type     text COLLATE "C",
  record_id       text COLLATE "C",
  -- Null for a test.
  change_seq      bigint,
  status          text NOT NULL,
  attempts        integer NOT NULL DEFAULT 0,
  -- Sent even if the trigger is switched off: a test or a replay.
  is_forced       boolean NOT NULL DEFAULT false,
  -- Null once it has ended.
  next_attempt_at timestamptz(3),
  last_attempt_at timestamptz(3),
  response_status integer,
  response_body   text,
  duration_ms     integer,
  error           text,
  -- What is sent. Kept from the first failure on, because the log may be purged before the last attempt.
  body            text,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT trigger_delivery_pkey PRIMARY KEY (base_id, trigger_id, id),
  CONSTRAINT trigger_delivery_status CHECK (status IN ('pending', 'succeeded', 'failed', 'dead')),
  CONSTRAINT trigger_delivery_trigger FOREIGN KEY (base_id, trigger_id) REFERENCES plinth.trigger (base_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX trigger_delivery_newest ON plinth.trigger_delivery (base_id, trigger_id, created_at, id);
CREATE INDEX trigger_delivery_due ON plinth.trigger_delivery (base_id, trigger_id, next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX trigger_delivery_ended ON plinth.trigger_delivery (created_at) WHERE next_attempt_at IS NULL;
