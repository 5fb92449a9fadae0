-- Search: words of a text, found exactly, as the beginning of a word, or with a typo or two. With a declared index or
-- without, the same functions decide and score, so both give the same answer.

-- The edit distance comes with PostgreSQL (contrib). Trusted: whoever may create schemas in the database may create it.
DO $$
DECLARE
  home text;
BEGIN
  BEGIN
    CREATE EXTENSION IF NOT EXISTS fuzzystrmatch SCHEMA plinth;
  EXCEPTION WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
    RAISE EXCEPTION 'search needs the extension fuzzystrmatch, which this database lacks: %', SQLERRM
      USING HINT = 'Install the contrib package of this PostgreSQL, or have an administrator run CREATE EXTENSION fuzzystrmatch.';
  END;
  -- It may have been there before, in a schema of its owner's choice.
  SELECT extnamespace::regnamespace::text INTO home FROM pg_extension WHERE extname = 'fuzzystrmatch';
  EXECUTE format(
    'CREATE FUNCTION plinth.edits(a text, b text, most integer) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
       RETURN %s.levenshtein_less_equal(a, b, most)', home);
END $$;

-- All strings of a value, any depth, with a space between: its first 65,536 characters.
CREATE FUNCTION plinth.search_strings(value jsonb) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT left(string_agg(piece #>> '{}', ' '), 65536)
          FROM jsonb_path_query(value, 'strict $.** ? (@.type() == "string")') AS piece);
END $$;

-- The text that a search reads of a value.
CREATE FUNCTION plinth.search_text(value jsonb) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE jsonb_typeof(value)
    WHEN 'string' THEN left(value #>> '{}', 65536)
    WHEN 'array' THEN plinth.search_strings(value)
    WHEN 'object' THEN plinth.search_strings(value)
  END;

-- What is at a resolved path, from its step at `start` on: a string is a property, a number a position; null is any
-- element, and gives an array of what is at the rest of the path in each.
CREATE FUNCTION plinth.search_value(value jsonb, path jsonb, start integer) RETURNS jsonb
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  segment jsonb;
BEGIN
  FOR at IN start .. jsonb_array_length(path) - 1 LOOP
    segment := path -> at;
    IF jsonb_typeof(segment) = 'string' THEN
      value := value -> (segment #>> '{}');
    ELSIF jsonb_typeof(value) <> 'array' THEN
      RETURN NULL;
    ELSIF jsonb_typeof(segment) = 'number' THEN
      value := value -> segment::integer;
    ELSE
      RETURN (SELECT jsonb_agg(plinth.search_value(element, path, at + 1)) FROM jsonb_array_elements(value) AS element);
    END IF;
  END LOOP;
  RETURN value;
END $$;

-- A text as its words in lower case, without accents, each between single spaces: ' cote d ivoire '. A word has at most
-- 64 characters; a letter of Chinese or Japanese is a word. src/engine/search/words.ts does the same to a query.
CREATE FUNCTION plinth.search_fold(value text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  folded text;
BEGIN
  IF value !~ '[^A-Za-z0-9 ]|  ' THEN
    folded := rtrim(' ' || ltrim(lower(value COLLATE "C"))) || ' ';
  ELSIF octet_length(value) = char_length(value) THEN
    folded := regexp_replace(' ' || lower(value COLLATE "C") || ' ', '[^a-z0-9]+', ' ', 'g');
  ELSE
    folded := lower(normalize(value, NFKD) COLLATE "und-x-icu");
    folded := regexp_replace(folded, '[\u20d0-\u20ff\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe00-\ufe2f\u0591-\u05bd\u064b-\u065f\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0670\u3099\u309a\u200b-\u200f\u2060\ufeff\u00ad]+', '', 'g');
    folded := replace(replace(replace(translate(folded, 'ðđħıłøŧς', 'ddhilotσ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe');
    folded := regexp_replace(folded, '([\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])', ' \1 ', 'g');
    folded := regexp_replace(' ' || folded || ' ', '[^0-9a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0559\u0560-\u0588\u058a-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u060b\u060d-\u061a\u061c-\u061e\u0620-\u0669\u066e-\u06d3\u06d5-\u0963\u0966-\u1360\u1369-\u1fff\u2070-\u209f\u2100-\u218f\u2300-\u24ff\u2600-\u2fff\u3005-\u3007\u3040-\u30fa\u30fc-\U0010ffff]+', ' ', 'g');
  END IF;
  IF octet_length(folded) > 64 THEN folded := regexp_replace(folded, '([^ ]{64})[^ ]+', '\1', 'g'); END IF;
  RETURN folded;
END $$;

-- How near a folded text comes to a word that it does not hold: 0 to 0.5, null when no word of it is near. One typo is
-- taken in words from 4 letters, two from 8; two letters that changed places are one.
CREATE FUNCTION plinth.search_near(folded text, word text) RETURNS double precision
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  size integer := char_length(word);
  other text;
  longer integer;
  typos integer;
  least_typos integer := 3;
BEGIN
  FOREACH other IN ARRAY string_to_array(folded, ' ') LOOP
    longer := greatest(char_length(other), size);
    CONTINUE WHEN longer < 4 OR size < 3 OR longer - least(char_length(other), size) > 2;
    typos := plinth.edits(other, word, 2);
    IF typos = 2 AND char_length(other) = size AND EXISTS (
      SELECT FROM generate_series(1, size - 1) AS i
      WHERE other = overlay(word PLACING reverse(substr(word, i, 2)) FROM i FOR 2)) THEN typos := 1; END IF;
    IF typos < least_typos AND (typos = 1 OR longer >= 8) THEN least_typos := typos; END IF;
  END LOOP;
  IF least_typos > 2 THEN RETURN NULL; END IF;
  RETURN 0.5 * (1 - least_typos::double precision / size);
END $$;

-- How well a folded text answers the words of a query: 0 to 1, null when one of them is nowhere in it. A whole word counts
-- more than the beginning of one, that more than a near one; a short text and the words as a phrase a little more.
CREATE FUNCTION plinth.search_score(folded text, words text[]) RETURNS double precision
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  word text;
  at integer;
  found double precision;
  total double precision := 0;
  phrase text := array_to_string(words, ' ');
BEGIN
  FOREACH word IN ARRAY words LOOP
    IF strpos(folded, ' ' || word || ' ') > 0 THEN
      found := 1;
    ELSE
      at := CASE WHEN char_length(word) >= 3 THEN strpos(folded, ' ' || word) ELSE 0 END;
      found := CASE WHEN at > 0
        THEN 0.65 + 0.2 * char_length(word) / (strpos(substr(folded, at + 1), ' ') - 1)
        ELSE plinth.search_near(folded, word) END;
      IF found IS NULL THEN RETURN NULL; END IF;
    END IF;
    total := total + found;
  END LOOP;
  RETURN round((0.9 * total / cardinality(words)
    + 0.08 * least(1, octet_length(phrase)::double precision / (octet_length(folded) - 2))
    + CASE WHEN strpos(folded, ' ' || phrase) > 0 THEN 0.02 ELSE 0 END)::numeric, 6);
END $$;

-- The same for a text as it is. A text that answers has one of `rough` as it is and one of `hints` once it is folded
-- (LIKE patterns): most texts fall there, for a fraction of the cost.
CREATE FUNCTION plinth.search_score(value text, words text[], rough text[], hints text[]) RETURNS double precision
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
DECLARE
  folded text;
BEGIN
  IF octet_length(value) = char_length(value) AND NOT lower(value COLLATE "C") LIKE ANY (rough) THEN RETURN NULL; END IF;
  folded := plinth.search_fold(value);
  IF NOT folded LIKE ANY (hints) THEN RETURN NULL; END IF;
  RETURN plinth.search_score(folded, words);
END $$;

-- The words of a folded text, each behind the index it is of: what the entries are found by. No two indexes share a key,
-- so what one tenant writes never lengthens the lists that another one reads. The cost keeps the planner on the index.
CREATE FUNCTION plinth.search_keys(index_id bigint, field integer, words text) RETURNS text[]
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
DECLARE
  owner text := index_id || '.' || field || ':';
BEGIN
  RETURN string_to_array(owner || replace(nullif(btrim(words), ''), ' ', ' ' || owner), ' ');
END $$;

-- The entries of declared text indexes: the folded text of one field of one record.
CREATE TABLE plinth.record_text (
  base_id  text COLLATE "C" NOT NULL,
  index_id bigint NOT NULL,
  -- The position of the field in the index, from 0.
  field    integer NOT NULL,
  id       text COLLATE "C" NOT NULL,
  words    text COLLATE "C" NOT NULL,
  CONSTRAINT record_text_pkey PRIMARY KEY (base_id, index_id, field, id)
) WITH (fillfactor = 90);
-- Without a list of pending entries: it would be one for all tenants, and every search reads it.
CREATE INDEX record_text_words ON plinth.record_text USING gin (plinth.search_keys(index_id, field, words)) WITH (fastupdate = off);

-- The words that an index has seen, from which those near to a query's are chosen. No key: two writers of a new word never
-- wait for each other, and a word that is here twice, or that no text holds any more, changes no answer.
CREATE TABLE plinth.record_word (
  base_id  text COLLATE "C" NOT NULL,
  index_id bigint NOT NULL,
  field    integer NOT NULL,
  word     text COLLATE "C" NOT NULL
);
CREATE INDEX record_word_index ON plinth.record_word (base_id, index_id, field, word);
