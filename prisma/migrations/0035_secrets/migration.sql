-- Secrets of the vault, which requests of this server send. They belong to the account.
CREATE TABLE plinth.secret (
  id          text COLLATE "C" NOT NULL,
  description text,
  bases       text[] NOT NULL,
  -- Encrypted: `v1.<id of the master key>.<data key>.<value>`.
  value       text NOT NULL,
  created_by  text,
  version     integer NOT NULL DEFAULT 1,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT secret_pkey PRIMARY KEY (id)
);
CREATE INDEX secret_newest ON plinth.secret (created_at, id);
