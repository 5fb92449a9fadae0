-- Counts stay for a while, as what is usual: the hours of a token in a base, under the rule 'base/<id>'. `allowed`: up to which count
-- a person let it go on in that hour.
ALTER TABLE plinth.automatic_write DROP CONSTRAINT automatic_write_pkey;
ALTER TABLE plinth.automatic_write ADD CONSTRAINT automatic_write_pkey PRIMARY KEY (token_id, rule, since);
ALTER TABLE plinth.automatic_write ADD COLUMN allowed integer;

-- As before, and counts the drafts of the transaction.
CREATE OR REPLACE FUNCTION plinth_draft.keep_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.seq := nextval('plinth.draft_position');
  INSERT INTO plinth.draft_change AS c (branch, kind, record_type, id, position, at, token_id, actor_name, via, actor_kind, request_id, call)
  VALUES (plinth_draft.here(), NEW.kind, coalesce(NEW.record_type, ''), NEW.id, NEW.seq, now(), NEW.token_id, NEW.actor_name,
    NEW.via, NEW.actor_kind, NEW.request_id, NEW.call)
  ON CONFLICT (branch, kind, record_type, id) DO UPDATE SET position = excluded.position, at = excluded.at,
    token_id = excluded.token_id, actor_name = excluded.actor_name, via = excluded.via, actor_kind = excluded.actor_kind,
    request_id = excluded.request_id, call = excluded.call;
  UPDATE plinth.change_set SET revision = revision + 1, status = 'open', written_at = now(), written_by = pg_current_xact_id(),
    writers = CASE WHEN NEW.token_id IS NULL OR NEW.token_id = ANY (writers) THEN writers ELSE writers || NEW.token_id END
  WHERE base_id = plinth_draft.here() AND written_by IS DISTINCT FROM pg_current_xact_id();
  PERFORM set_config('plinth.drafted', (plinth_draft.drafted() + 1)::text, true);
  RETURN NEW;
END $$;

-- How many drafts the transaction has written.
CREATE FUNCTION plinth_draft.drafted() RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('plinth.drafted', true), '')::int, 0)
$$;
