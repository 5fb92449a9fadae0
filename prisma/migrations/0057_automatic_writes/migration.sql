-- How often a token has written directly by a rule of its grants, since the begin of an hour or a day.
CREATE TABLE plinth.automatic_write (
  token_id text NOT NULL,
  rule text NOT NULL,
  since timestamptz(3) NOT NULL,
  used integer NOT NULL,
  CONSTRAINT automatic_write_pkey PRIMARY KEY (token_id, rule)
);
