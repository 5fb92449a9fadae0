-- Codes that sign a browser in, once. The code itself is not stored.
CREATE TABLE plinth.sign_in_code (
  hash       bytea NOT NULL,
  token_id   text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT sign_in_code_pkey PRIMARY KEY (hash),
  CONSTRAINT sign_in_code_token FOREIGN KEY (token_id) REFERENCES plinth.token (id) ON DELETE CASCADE
);
CREATE INDEX sign_in_code_of_token ON plinth.sign_in_code (token_id, created_at);
CREATE INDEX sign_in_code_expiry ON plinth.sign_in_code (expires_at);

-- The token that a browser tab was signed in with. A tab's token ends with it.
ALTER TABLE plinth.token ADD COLUMN signed_in_by text COLLATE "C",
  ADD CONSTRAINT token_signed_in_by FOREIGN KEY (signed_in_by) REFERENCES plinth.token (id) ON DELETE CASCADE;
CREATE INDEX token_signed_in ON plinth.token (signed_in_by, created_at) WHERE signed_in_by IS NOT NULL;
