-- An RFC 3339 time as an instant; null for anything else, so that one odd value never fails a query. What is let through
-- the casts take, so nothing has to be caught: a caught error is not allowed in a parallel plan.
CREATE OR REPLACE FUNCTION plinth.instant(value text, zone text) RETURNS timestamptz
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  away text;
  plain timestamp;
BEGIN
  -- The commonest spellings, on days that every month has: a pattern would cost more than all else.
  IF translate(value, '0123456789', '0000000000') IN ('0000-00-00T00:00:00Z', '0000-00-00T00:00:00.000Z')
    AND value COLLATE "C" > '0001' AND substr(value, 6, 2) COLLATE "C" BETWEEN '01' AND '12'
    AND substr(value, 9, 2) COLLATE "C" BETWEEN '01' AND '28' AND substr(value, 12, 2) COLLATE "C" < '24'
    AND substr(value, 15, 2) COLLATE "C" < '60' AND substr(value, 18, 2) COLLATE "C" < '60'
    THEN RETURN value::timestamptz; END IF;
  IF value IS NULL OR length(value) > 64 OR value LIKE '0000%'
    OR value !~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)?)?$'
    THEN RETURN NULL; END IF;
  IF substr(value, 9, 2) COLLATE "C" > '28' AND substr(value, 9, 2)::int >
      extract(day FROM make_date(substr(value, 1, 4)::int, substr(value, 6, 2)::int, 1) + interval '1 month' - interval '1 day')
    THEN RETURN NULL; END IF;
  IF length(value) <= 10 THEN RETURN value::timestamp AT TIME ZONE zone; END IF;
  IF right(value, 1) IN ('Z', 'z') THEN RETURN left(value, -1)::timestamp AT TIME ZONE 'UTC'; END IF;
  away := right(value, 6);
  IF away !~ '^[+-]' THEN RETURN value::timestamp AT TIME ZONE zone; END IF;
  -- An offset may be longer than a cast of the whole takes.
  plain := left(value, -6)::timestamp;
  RETURN (CASE WHEN left(away, 1) = '+' THEN plain - substr(away, 2)::interval ELSE plain + substr(away, 2)::interval END)
    AT TIME ZONE 'UTC';
END $$;

-- What values mean to filters, sorts, declared indexes and aggregates: one set of immutable functions.
-- SQL functions whose body is one expression are inlined by the planner, so they cost what they hold.

-- The value, without JSON's null: missing and null are one.
CREATE FUNCTION plinth.val(value jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN jsonb_typeof(value) <> 'null' THEN value END;

-- The order of values as text that compares by byte: strings by code point, numbers, booleans, arrays, objects.
-- Arrays tie, and so do objects. Null for missing and null.
CREATE FUNCTION plinth.key(value jsonb) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE jsonb_typeof(value)
    WHEN 'string' THEN 'a' || (value #>> '{}')
    -- The bits of a double order like the number; those of a negative one the other way round.
    WHEN 'number' THEN CASE WHEN value >= '0'
      THEN 'bp' || encode(float8send(value::double precision), 'hex')
      ELSE 'bn' || translate(encode(float8send(value::double precision), 'hex'), '0123456789abcdef', 'fedcba9876543210') END
    WHEN 'boolean' THEN CASE WHEN value = 'true' THEN 'c1' ELSE 'c0' END
    WHEN 'array' THEN 'd'
    WHEN 'object' THEN 'e'
  END COLLATE "C";

-- An instant's place in that order: before all other strings.
CREATE FUNCTION plinth.time_key(value timestamptz) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN value >= '2000-01-01 00:00:00+00' THEN 'Ap' ELSE 'An' END || encode(timestamptz_send(value), 'hex') COLLATE "C";

-- The same for a field of dates: a string that is a time counts as its instant.
CREATE FUNCTION plinth.key(value jsonb, zone text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  at timestamptz;
BEGIN
  IF jsonb_typeof(value) = 'string' THEN
    at := plinth.instant(value #>> '{}', zone);
    IF at IS NOT NULL THEN RETURN plinth.time_key(at); END IF;
  END IF;
  RETURN plinth.key(value);
END $$;

-- Turns the order of a key round.
CREATE FUNCTION plinth.down(key text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN translate(encode(convert_to(key, 'UTF8'), 'hex'), '0123456789abcdef', 'fedcba9876543210') || 'g' COLLATE "C";

-- What stands at a path of property names and array positions; null where it leads nowhere.
CREATE FUNCTION plinth.at(value jsonb, path jsonb) RETURNS jsonb
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  step jsonb;
BEGIN
  FOR i IN 0 .. jsonb_array_length(path) - 1 LOOP
    step := path -> i;
    IF jsonb_typeof(step) = 'string' THEN value := value -> (step #>> '{}');
    ELSIF jsonb_typeof(value) = 'array' THEN value := value -> step::int;
    ELSE RETURN NULL;
    END IF;
  END LOOP;
  RETURN value;
END $$;

-- How many bytes of a key an entry takes; turned round, a key is twice as long.
CREATE FUNCTION plinth.key_bytes(is_down boolean) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN is_down THEN 300 ELSE 600 END;

-- A key as an entry holds it. Of one too long its beginning stays, and a digest of the whole value, so that equal values
-- still have equal keys, and others not.
CREATE FUNCTION plinth.fit(key text, value jsonb, is_down boolean) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF octet_length(key) > plinth.key_bytes(is_down) THEN
    key := left(key, plinth.key_bytes(is_down) / 4) || chr(1) || encode(sha256(convert_to(value #>> '{}', 'UTF8')), 'hex');
  END IF;
  IF is_down THEN RETURN plinth.down(key); END IF;
  RETURN key;
END $$;

-- Where entries of an index have a value: the key to look for. `zone` as its field has it, null for most.
CREATE FUNCTION plinth.entry_key(value jsonb, zone text, is_down boolean) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN plinth.fit(CASE WHEN zone IS NULL THEN plinth.key(value) ELSE plinth.key(value, zone) END, value, is_down);

-- The entry of a record in an index. An index is read in the direction of its last field, and keys of fields that go the
-- other way are turned round. What is missing comes last. `is_whole`: every field has a value. `is_cut`: the keys do not
-- say all of the order.
CREATE FUNCTION plinth.entry(
    kind text, fields jsonb, id text, external_id text, external_source text, version integer, data jsonb,
    cancelled_at timestamptz, created_at timestamptz, updated_at timestamptz,
    OUT k1 text, OUT k2 text, OUT k3 text, OUT is_whole boolean, OUT is_cut boolean)
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  scan text := fields -> -1 ->> 'direction';
  field jsonb;
  value jsonb;
  key text;
  is_down boolean;
  keys text[] := ARRAY['', '', ''];
BEGIN
  is_whole := true;
  is_cut := false;
  FOR i IN 0 .. jsonb_array_length(fields) - 1 LOOP
    field := fields -> i;
    is_down := field ->> 'direction' <> scan;
    CASE field ->> 'column'
      WHEN 'id' THEN value := to_jsonb(id);
      WHEN 'external_id' THEN value := to_jsonb(external_id);
      WHEN 'external_source' THEN value := to_jsonb(external_source);
      WHEN 'version' THEN value := to_jsonb(version);
      WHEN 'status' THEN value := CASE WHEN cancelled_at IS NULL THEN '"active"' ELSE '"cancelled"' END;
      WHEN 'created_at' THEN value := NULL;
      WHEN 'updated_at' THEN value := NULL;
      ELSE value := plinth.at(data, field -> 'path');
    END CASE;
    key := CASE field ->> 'column'
      WHEN 'created_at' THEN plinth.time_key(created_at)
      WHEN 'updated_at' THEN plinth.time_key(updated_at)
      ELSE CASE WHEN field ->> 'zone' IS NULL THEN plinth.key(value) ELSE plinth.key(value, field ->> 'zone') END
    END;
    IF key IS NULL THEN
      is_whole := false;
      keys[i + 1] := CASE WHEN scan = 'desc' THEN '' ELSE '~' END;
    ELSE
      -- Lists tie in every order, and so do objects; only equal ones are duplicates.
      IF kind = 'unique' AND key IN ('d', 'e') THEN
        is_cut := true;
        key := key || to_hex(jsonb_hash_extended(value, 0)) || to_hex(jsonb_hash_extended(value, 1));
      END IF;
      is_cut := is_cut OR octet_length(key) > plinth.key_bytes(is_down);
      keys[i + 1] := plinth.fit(key, value, is_down);
    END IF;
  END LOOP;
  k1 := keys[1];
  k2 := keys[2];
  k3 := keys[3];
END $$;

-- Rises with all that a writer of records must know of their type: itself, and the indexes it writes entries of.
ALTER TABLE plinth.record_type ADD COLUMN revision integer NOT NULL DEFAULT 0;

-- A declared index: what it covers and how far it is. `fields` holds each field resolved:
-- { field, path or column, direction, zone when its values are instants }. A change of meaning makes a new row.
CREATE TABLE plinth.record_type_index (
  base_id     text COLLATE "C" NOT NULL,
  record_type text COLLATE "C" NOT NULL,
  id          bigint GENERATED ALWAYS AS IDENTITY,
  position    integer NOT NULL,
  kind        text NOT NULL,
  fields      jsonb NOT NULL,
  status      text NOT NULL DEFAULT 'building',
  -- The records that share a value, for a unique index that failed.
  duplicates  jsonb,
  -- The last record that the build has seen.
  built_to    text COLLATE "C",
  -- True once a key was longer than an entry takes: the index then finds values but no longer orders them.
  has_cut     boolean NOT NULL DEFAULT false,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT record_type_index_kind CHECK (kind IN ('btree', 'unique', 'text')),
  CONSTRAINT record_type_index_status CHECK (status IN ('building', 'ready', 'failed')),
  CONSTRAINT record_type_index_type FOREIGN KEY (base_id, record_type) REFERENCES plinth.record_type (base_id, id) ON DELETE CASCADE,
  CONSTRAINT record_type_index_pkey PRIMARY KEY (base_id, record_type, id)
);

-- The entries of all declared indexes: one row a record and index, written by the statement that writes the record.
-- No foreign key: it would cost each write a look-up for each entry. What deletes records deletes entries.
CREATE TABLE plinth.record_index (
  base_id    text COLLATE "C" NOT NULL,
  index_id   bigint NOT NULL,
  k1         text COLLATE "C" NOT NULL,
  k2         text COLLATE "C" NOT NULL,
  k3         text COLLATE "C" NOT NULL,
  id         text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  is_unique  boolean NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX record_index_keys ON plinth.record_index (base_id, index_id, k1, k2, k3, id) INCLUDE (created_at);
CREATE UNIQUE INDEX record_index_unique ON plinth.record_index (base_id, index_id, k1, k2, k3) WHERE is_unique;
ALTER TABLE plinth.record_index ADD CONSTRAINT record_index_pkey PRIMARY KEY (base_id, index_id, id);

-- The server's own keys, shared by all its processes: what seals cursors.
CREATE TABLE plinth.server_secret (
  purpose    text NOT NULL,
  value      bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT server_secret_pkey PRIMARY KEY (purpose)
);
