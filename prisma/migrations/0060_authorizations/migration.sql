-- Clients of the authorization server that registered themselves.
CREATE TABLE plinth.oauth_client (
  id            text COLLATE "C" NOT NULL,
  name          text NOT NULL,
  redirect_uris jsonb NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT oauth_client_pkey PRIMARY KEY (id)
);
CREATE INDEX oauth_client_age ON plinth.oauth_client (created_at);

-- What a person allowed a client: first a code, then a token whose secrets each refresh replaces. Secrets are hashes.
CREATE TABLE plinth.oauth_authorization (
  id              text COLLATE "C" NOT NULL,
  client_id       text NOT NULL,
  client_name     text NOT NULL,
  granted_by      text COLLATE "C" NOT NULL,
  token_id        text COLLATE "C",
  grants          jsonb NOT NULL,
  resource        text NOT NULL,
  redirect_uri    text NOT NULL,
  challenge       text NOT NULL,
  code_hash       bytea NOT NULL,
  code_expires_at timestamptz(3) NOT NULL,
  family_hash     bytea,
  refresh_hash    bytea,
  ends_at         timestamptz(3),
  CONSTRAINT oauth_authorization_pkey PRIMARY KEY (id),
  CONSTRAINT authorization_granted_by FOREIGN KEY (granted_by) REFERENCES plinth.token (id) ON DELETE CASCADE,
  CONSTRAINT authorization_token FOREIGN KEY (token_id) REFERENCES plinth.token (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX authorization_code ON plinth.oauth_authorization (code_hash);
CREATE UNIQUE INDEX authorization_family ON plinth.oauth_authorization (family_hash);
CREATE UNIQUE INDEX authorization_of_token ON plinth.oauth_authorization (token_id);
CREATE INDEX authorization_of_person ON plinth.oauth_authorization (granted_by, id);
CREATE INDEX authorization_of_client ON plinth.oauth_authorization (client_id);
