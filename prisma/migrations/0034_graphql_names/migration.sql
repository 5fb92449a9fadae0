-- The name of a record type in the GraphQL schema of its base. It is chosen once and kept, so that generated clients go on
-- fitting. Types that exist get theirs in the order of their creation, by the rule of `graphql-name.ts`.
ALTER TABLE plinth.record_type ADD COLUMN graphql_name text COLLATE "C";

DO $$
DECLARE
  t record;
  plain text;
  chosen text;
  chars int;
BEGIN
  FOR t IN SELECT base_id, id FROM plinth.record_type ORDER BY base_id, created_at, id LOOP
    SELECT string_agg(upper(left(w.part, 1)) || substr(w.part, 2), '' ORDER BY w.n) INTO plain
    FROM regexp_split_to_table(t.id, '[^A-Za-z0-9]+') WITH ORDINALITY AS w (part, n) WHERE w.part <> '';
    IF plain ~ '^[0-9]' THEN plain := 'T' || plain; END IF;
    chosen := plain;
    chars := 6;
    WHILE lower(chosen) = ANY (ARRAY['string', 'int', 'float', 'boolean', 'id', 'datetime', 'date', 'json', 'query',
        'mutation', 'subscription', 'pageinfo', 'record', 'node'])
      OR chosen ~* '(records|aggregate|connection|edge|filter|changes)$'
      OR EXISTS (SELECT FROM plinth.record_type o
        WHERE o.base_id = t.base_id AND lower(o.graphql_name) = lower(chosen)) LOOP
      chosen := plain || left(encode(sha256(convert_to(t.id, 'UTF8')), 'hex'), chars);
      chars := chars + 2;
    END LOOP;
    UPDATE plinth.record_type SET graphql_name = chosen WHERE base_id = t.base_id AND id = t.id;
  END LOOP;
END $$;

ALTER TABLE plinth.record_type ALTER COLUMN graphql_name SET NOT NULL;
-- Without regard to case: code generators make one class of `deal` and `Deal`.
CREATE UNIQUE INDEX record_type_graphql_name ON plinth.record_type (base_id, lower(graphql_name));
