-- A record in the hands of one worker. A claim that is over keeps its row for a while, so that its holder is told so.
CREATE TABLE plinth.claim (
  base_id       text COLLATE "C" NOT NULL,
  id            text COLLATE "C" NOT NULL,
  record_type   text COLLATE "C" NOT NULL,
  record_id     text COLLATE "C" NOT NULL,
  -- The record of which this is the latest claim; null once a later one took its place, or the record is gone.
  row_no        bigint,
  -- The version of the record at the claim, at its holder's last write, or at completion: what says whether it has changed.
  version       integer NOT NULL,
  token_id      text COLLATE "C" NOT NULL,
  status        text NOT NULL DEFAULT 'held',
  attempts      integer NOT NULL,
  max_attempts  integer,
  lease_seconds integer NOT NULL,
  expires_at    timestamptz(3) NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT claim_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT claim_status CHECK (status IN ('held', 'released', 'completed')),
  CONSTRAINT claim_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE,
  CONSTRAINT claim_record FOREIGN KEY (row_no) REFERENCES plinth.record (row_no) ON DELETE SET NULL
) WITH (fillfactor = 80);
-- One claim a record, whatever two workers do at once.
CREATE UNIQUE INDEX claim_record_row ON plinth.claim (row_no);
CREATE INDEX claim_newest ON plinth.claim (base_id, created_at, id) WHERE row_no IS NOT NULL;
CREATE INDEX claim_open ON plinth.claim (base_id, created_at, id) WHERE row_no IS NOT NULL AND status <> 'completed';
CREATE INDEX claim_over ON plinth.claim (expires_at) WHERE row_no IS NULL;
