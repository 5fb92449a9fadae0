-- S3 credentials: temporary keys of a token, for the files of one type or of a base. Secrets are derived from the key id and a
-- key of the server, so none is stored.
CREATE TABLE plinth.s3_credential (
  base_id       text COLLATE "C" NOT NULL,
  id            text COLLATE "C" NOT NULL,
  access_key_id text COLLATE "C" NOT NULL,
  -- Null for all file types of the base.
  file_type     text COLLATE "C",
  permission    text COLLATE "C" NOT NULL,
  token_id      text NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  expires_at    timestamptz(3) NOT NULL,
  CONSTRAINT s3_credential_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT s3_credential_permission CHECK (permission IN ('read', 'write')),
  CONSTRAINT s3_credential_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE,
  CONSTRAINT s3_credential_file_type FOREIGN KEY (base_id, file_type) REFERENCES plinth.file_type (base_id, id) ON DELETE CASCADE,
  CONSTRAINT s3_credential_token FOREIGN KEY (token_id) REFERENCES plinth.token (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX s3_credential_key ON plinth.s3_credential (access_key_id);
CREATE INDEX s3_credential_newest ON plinth.s3_credential (base_id, created_at, id);
CREATE INDEX s3_credential_of_token ON plinth.s3_credential (token_id);
CREATE INDEX s3_credential_expiry ON plinth.s3_credential (expires_at);

-- Multipart uploads of files, and the parts that have arrived. A part is a content like any other.
CREATE TABLE plinth.file_upload (
  base_id      text COLLATE "C" NOT NULL,
  id           text COLLATE "C" NOT NULL,
  file_type    text COLLATE "C" NOT NULL,
  path         text COLLATE "C" NOT NULL,
  content_type text NOT NULL,
  -- `json`, not `jsonb`: the order of properties is the author's.
  metadata     json NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT file_upload_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT file_upload_type FOREIGN KEY (base_id, file_type) REFERENCES plinth.file_type (base_id, id) ON DELETE CASCADE
);
CREATE INDEX file_upload_path ON plinth.file_upload (base_id, file_type, path, id);
CREATE INDEX file_upload_age ON plinth.file_upload (created_at);

CREATE TABLE plinth.file_upload_part (
  base_id        text COLLATE "C" NOT NULL,
  upload_id      text COLLATE "C" NOT NULL,
  number         integer NOT NULL,
  content_sha256 text COLLATE "C" NOT NULL,
  size           bigint NOT NULL,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT file_upload_part_pkey PRIMARY KEY (base_id, upload_id, number),
  CONSTRAINT file_upload_part_upload FOREIGN KEY (base_id, upload_id) REFERENCES plinth.file_upload (base_id, id) ON DELETE CASCADE
);
CREATE INDEX file_upload_part_content ON plinth.file_upload_part (content_sha256);
