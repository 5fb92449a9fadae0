-- Small contents of files and attachments, each by its sha256. Larger ones are in the store of contents.
CREATE TABLE plinth.content (
  sha256    text COLLATE "C" NOT NULL,
  bytes     bytea NOT NULL,
  stored_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT content_pkey PRIMARY KEY (sha256)
) WITH (toast_tuple_target = 8160);
-- As they are: most fit a page, and to compress them would take longer than to write them.
ALTER TABLE plinth.content ALTER COLUMN bytes SET STORAGE EXTERNAL;
