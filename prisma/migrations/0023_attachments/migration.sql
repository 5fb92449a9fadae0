-- Attachments of records. A row belongs to one life of its record, which the time of its creation names: so a deletion of the
-- record hides its attachments, a restoration brings them back, and a new record of the same id has none of them.
CREATE TABLE plinth.attachment (
  base_id           text COLLATE "C" NOT NULL,
  id                text COLLATE "C" NOT NULL,
  record_type       text COLLATE "C" NOT NULL,
  record_id         text COLLATE "C" NOT NULL,
  record_created_at timestamptz(3) NOT NULL,
  filename          text COLLATE "C" NOT NULL,
  content_type      text NOT NULL,
  -- Null until the content is there.
  size              bigint,
  sha256            text COLLATE "C",
  status            text COLLATE "C" NOT NULL,
  token_id          text COLLATE "C",
  actor_name        text NOT NULL,
  created_at        timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT attachment_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT attachment_status CHECK (status IN ('pending', 'ready')),
  CONSTRAINT attachment_content CHECK ((status = 'ready') = (sha256 IS NOT NULL AND size IS NOT NULL)),
  CONSTRAINT attachment_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
-- Also the order of names in one record. A pending one does not yet take the place of the one that is there.
CREATE UNIQUE INDEX attachment_name ON plinth.attachment (base_id, record_type, record_id, record_created_at, filename, status);
CREATE INDEX attachment_pending ON plinth.attachment (created_at) WHERE status = 'pending';
-- Whether a content is in use.
CREATE INDEX attachment_content_of ON plinth.attachment (sha256) WHERE sha256 IS NOT NULL;
