-- A trigger of a preview sends nothing to a URL of production.
ALTER TABLE plinth.trigger ADD COLUMN calls_production boolean NOT NULL DEFAULT false;
UPDATE plinth.trigger t SET calls_production = true
FROM plinth.base b JOIN plinth.trigger p ON p.base_id = b.production_base
WHERE b.id = t.base_id AND split_part(p.url, '#', 1) = split_part(t.url, '#', 1);
