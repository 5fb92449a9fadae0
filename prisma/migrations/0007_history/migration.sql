-- When the record of an entry was created. The entry that created it may be purged before this one.
ALTER TABLE plinth.change ADD COLUMN created_at timestamptz(3);
UPDATE plinth.change c SET created_at = (
  SELECT b.at FROM plinth.change b
  WHERE b.kind = 'record' AND b.base_id = c.base_id AND b.record_type = c.record_type AND b.id = c.id
    AND b.operation = 'create' AND b.version <= c.version
  ORDER BY b.version DESC LIMIT 1)
WHERE c.kind = 'record';

-- A deletion stays for ever, for the version number it holds; what it holds of the record is purged.
ALTER TABLE plinth.change ALTER COLUMN data DROP NOT NULL;
ALTER TABLE plinth.change ADD CONSTRAINT change_purged CHECK (data IS NOT NULL OR operation = 'delete');

-- What a write follows from is said once for its transaction, and every entry it makes has it.
ALTER TABLE plinth.change ALTER COLUMN cause SET DEFAULT nullif(current_setting('plinth.cause', true), '');

-- Deletions whose content is kept, of records the trash.
CREATE INDEX change_deleted ON plinth.change (base_id, kind, at, seq) WHERE operation = 'delete' AND data IS NOT NULL;

-- How far the history of a base has been purged.
CREATE TABLE plinth.retention (
  base_id      text COLLATE "C" NOT NULL,
  -- Before this moment the history has gaps, so no moment before it is shown.
  history_from timestamptz(3) NOT NULL,
  -- All entries up to this one have had those purged that they superseded.
  purged_to    bigint NOT NULL DEFAULT 0,
  CONSTRAINT retention_pkey PRIMARY KEY (base_id),
  CONSTRAINT retention_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
