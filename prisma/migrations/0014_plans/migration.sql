-- A write that was planned and not carried out yet: what was asked, by whom, and the state that the plan describes.
CREATE TABLE plinth.plan (
  id           text COLLATE "C" NOT NULL,
  caller       text COLLATE "C" NOT NULL,
  request_hash text COLLATE "C" NOT NULL,
  state        text COLLATE "C" NOT NULL,
  request      text NOT NULL,
  -- Bytes of the request, so that they can be summed without reading it.
  bytes        integer NOT NULL,
  expires_at   timestamptz(3) NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT plan_pkey PRIMARY KEY (id)
);
CREATE INDEX plan_of_caller ON plinth.plan (caller, created_at);
CREATE INDEX plan_age ON plinth.plan (created_at);
