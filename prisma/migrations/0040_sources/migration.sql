-- The external sources of a record type, in the order and form in which they were declared.
ALTER TABLE plinth.record_type ADD COLUMN sources json NOT NULL DEFAULT '[]';
-- Forks of previews that exist have no such field, which would look like a change. `json` keeps the order of keys.
UPDATE plinth.fork SET definition = regexp_replace(definition::text, '\}\s*$', ',"sources":[]}')::json WHERE kind = 'record_type';
