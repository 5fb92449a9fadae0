-- A search of all of `data` weighs the size of the record, where it folded the whole text to take its length. So the entries of
-- the fields that match are enough to score a record, and a word that many records have is not folded in each of them.
DROP FUNCTION plinth.search_score(text, text[]);
DROP FUNCTION plinth.search_score(text, text[], text[], text[]);

-- How well a folded text answers a word: 1 for the whole word, from 0.65 on for the beginning of one, below 0.5 for a near one,
-- null when it is nowhere in it.
CREATE FUNCTION plinth.search_found(folded text, word text) RETURNS double precision
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  at integer;
BEGIN
  IF strpos(folded, ' ' || word || ' ') > 0 THEN RETURN 1; END IF;
  at := CASE WHEN char_length(word) >= 3 THEN strpos(folded, ' ' || word) ELSE 0 END;
  IF at = 0 THEN RETURN plinth.search_near(folded, word); END IF;
  RETURN 0.65 + 0.2 * char_length(word) / (strpos(substr(folded, at + 1), ' ') - 1);
END $$;

-- The score of a text of so many octets, from 0 to 1: by how well it answers the words in the mean; a short text and the words as a
-- phrase count a little more.
CREATE FUNCTION plinth.search_rank(found double precision, phrase text, octets integer, has_phrase boolean)
  RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN round((0.9 * found + 0.08 * least(1, octet_length(phrase)::double precision / octets)
    + CASE WHEN has_phrase THEN 0.02 ELSE 0 END)::numeric, 6)::double precision;

-- How well a folded text answers the words of a query: null when one of them is nowhere in it. Its size is `octets`, or its own.
CREATE FUNCTION plinth.search_score(folded text, words text[], octets integer DEFAULT NULL) RETURNS double precision
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  word text;
  found double precision;
  total double precision := 0;
  phrase text := array_to_string(words, ' ');
BEGIN
  FOREACH word IN ARRAY words LOOP
    found := plinth.search_found(folded, word);
    IF found IS NULL THEN RETURN NULL; END IF;
    total := total + found;
  END LOOP;
  RETURN plinth.search_rank(total / cardinality(words), phrase, coalesce(octets, octet_length(folded) - 2),
    strpos(folded, ' ' || phrase) > 0);
END $$;

-- The same for a text as it is. A text that answers has one of `rough` as it is and one of `hints` once it is folded
-- (LIKE patterns): most texts fall there, for a fraction of the cost.
CREATE FUNCTION plinth.search_score(value text, words text[], rough text[], hints text[], octets integer DEFAULT NULL)
  RETURNS double precision LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 AS $$
DECLARE
  folded text;
BEGIN
  IF octet_length(value) = char_length(value) AND NOT lower(value COLLATE "C") LIKE ANY (rough) THEN RETURN NULL; END IF;
  folded := plinth.search_fold(value);
  IF folded IS NULL OR NOT folded LIKE ANY (hints) THEN RETURN NULL; END IF;
  RETURN plinth.search_score(folded, words, octets);
END $$;
