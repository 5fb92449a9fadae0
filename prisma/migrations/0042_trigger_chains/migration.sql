-- Deliveries that follow from runs of one delivery, so that their number has a limit.
ALTER TABLE plinth.trigger_delivery ADD COLUMN root_id text;
CREATE TABLE plinth.trigger_chain (
  base_id text NOT NULL,
  id text NOT NULL,
  runs integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (base_id, id),
  CONSTRAINT trigger_chain_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE INDEX trigger_chain_age ON plinth.trigger_chain (created_at);
