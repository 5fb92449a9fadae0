-- Files: a path, the properties of its current content, and the versions of the content. Contents are stored
-- apart, by their sha256.
CREATE TABLE plinth.file (
  base_id        text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  -- No reference: files in the trash outlive their type.
  file_type      text COLLATE "C" NOT NULL,
  path           text COLLATE "C" NOT NULL,
  version        integer NOT NULL,
  content_sha256 text COLLATE "C" NOT NULL,
  size           bigint NOT NULL,
  content_type   text NOT NULL,
  -- `json`, not `jsonb`: the order of properties is the author's.
  metadata       json NOT NULL,
  label          text,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  updated_at     timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at     timestamptz(3),
  CONSTRAINT file_pkey PRIMARY KEY (base_id, id),
  CONSTRAINT file_base FOREIGN KEY (base_id) REFERENCES plinth.base (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX file_path ON plinth.file (base_id, file_type, path) WHERE deleted_at IS NULL;
CREATE INDEX file_trash ON plinth.file (base_id, file_type, path, version) WHERE deleted_at IS NOT NULL;
CREATE INDEX file_deleted ON plinth.file (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE plinth.file_version (
  base_id        text COLLATE "C" NOT NULL,
  file_id        text COLLATE "C" NOT NULL,
  version        integer NOT NULL,
  content_sha256 text COLLATE "C" NOT NULL,
  size           bigint NOT NULL,
  content_type   text NOT NULL,
  label          text,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  created_by     text NOT NULL,
  CONSTRAINT file_version_pkey PRIMARY KEY (base_id, file_id, version),
  CONSTRAINT file_version_file FOREIGN KEY (base_id, file_id) REFERENCES plinth.file (base_id, id) ON DELETE CASCADE
);
CREATE INDEX file_version_content ON plinth.file_version (content_sha256);
