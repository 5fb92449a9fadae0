-- People who sign in at an identity provider: the token that their tabs and clients end with, and what asks the provider again.
CREATE TABLE plinth.person (
  token_id      text COLLATE "C" NOT NULL,
  issuer        text NOT NULL,
  subject       text NOT NULL,
  refresh_token text,
  checked_at    timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT person_pkey PRIMARY KEY (token_id),
  CONSTRAINT person_token FOREIGN KEY (token_id) REFERENCES plinth.token (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX person_subject ON plinth.person (issuer, subject);
