-- The version that a base was created with. It is above all versions of a former base of the same id, so records and
-- relationships go on from there.
ALTER TABLE plinth.base ADD COLUMN first_version integer NOT NULL DEFAULT 1;
