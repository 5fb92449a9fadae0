-- The edits of a promotion are rows. As one value, those of a large configuration blocked the event loop.
CREATE TABLE plinth.promotion_edit (
  base_id      text COLLATE "C" NOT NULL,
  promotion_id text COLLATE "C" NOT NULL,
  position     integer NOT NULL,
  kind         text NOT NULL,
  id           text COLLATE "C" NOT NULL,
  -- `json`, not `jsonb`: the order of properties is the author's.
  before       json,
  after        json,
  -- What the log says of the resource beyond its definition.
  origin       json,
  -- What both sides had changed, where `force` took the preview.
  conflict     json,
  CONSTRAINT promotion_edit_pkey PRIMARY KEY (base_id, promotion_id, position),
  CONSTRAINT promotion_edit_promotion FOREIGN KEY (base_id, promotion_id)
    REFERENCES plinth.promotion (base_id, id) ON UPDATE CASCADE ON DELETE CASCADE
);
INSERT INTO plinth.promotion_edit
SELECT p.base_id, p.id, e.n - 1, e.edit ->> 'kind', e.edit ->> 'id',
  CASE WHEN json_typeof(e.edit -> 'before') <> 'null' THEN e.edit -> 'before' END,
  CASE WHEN json_typeof(e.edit -> 'after') <> 'null' THEN e.edit -> 'after' END,
  e.edit -> 'origin',
  (SELECT json_build_object('production', c -> 'production', 'preview', c -> 'preview')
   FROM json_array_elements(p.conflicts) c WHERE c ->> 'kind' = e.edit ->> 'kind' AND c ->> 'id' = e.edit ->> 'id')
FROM plinth.promotion p CROSS JOIN LATERAL json_array_elements(p.edits) WITH ORDINALITY AS e (edit, n);
ALTER TABLE plinth.promotion ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE plinth.promotion SET bytes = length(edits::text) + length(conflicts::text);
ALTER TABLE plinth.promotion DROP COLUMN edits, DROP COLUMN conflicts;
