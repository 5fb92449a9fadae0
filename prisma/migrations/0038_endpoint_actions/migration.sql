-- Actions that an endpoint offers as tools.
ALTER TABLE plinth.endpoint ADD COLUMN actions text[] NOT NULL DEFAULT '{}';
-- Forks of previews that exist have no such field, which would look like a change. `json` keeps the order of keys.
UPDATE plinth.fork SET definition = regexp_replace(definition::text, '\}\s*$', ',"actions":[]}')::json WHERE kind = 'endpoint';
