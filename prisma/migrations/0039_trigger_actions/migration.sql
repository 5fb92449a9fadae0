-- A trigger sends its changes to a url, or runs an action with them.
ALTER TABLE plinth.trigger ALTER COLUMN url DROP NOT NULL, ADD COLUMN action text COLLATE "C";
ALTER TABLE plinth.trigger ADD CONSTRAINT trigger_target CHECK ((url IS NULL) <> (action IS NULL));
-- Forks of previews that exist have no such field, which would look like a change. `json` keeps the order of keys.
UPDATE plinth.fork SET definition = regexp_replace(definition::text, '\}\s*$', ',"action":null}')::json WHERE kind = 'trigger';

-- How many runs of triggers led to the change of a delivery, this one included.
ALTER TABLE plinth.trigger_delivery ADD COLUMN depth integer NOT NULL DEFAULT 1;

-- The runs that deliveries started: by delivery for traces, and by id for the depth of what they change.
CREATE INDEX action_run_of_delivery ON plinth.action_run (base_id, cause, id) WHERE cause IS NOT NULL;
CREATE INDEX action_run_of_trigger ON plinth.action_run (base_id, id) WHERE cause IS NOT NULL;
