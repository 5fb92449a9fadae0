-- A date as an instant: what is told without a pattern is told of dates too. What it answers is the same.
CREATE OR REPLACE FUNCTION plinth.instant(value text, zone text) RETURNS timestamptz
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  away text;
  plain timestamp;
BEGIN
  -- The commonest spellings, on days that every month has: a pattern would cost more than all else.
  IF value LIKE '____-__-__%' AND ltrim(left(value, 4), '0123456789') = '' AND value COLLATE "C" > '0001'
    AND substr(value, 6, 2) IN ('01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12')
    AND substr(value, 9, 2) IN ('01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12', '13', '14',
      '15', '16', '17', '18', '19', '20', '21', '22', '23', '24', '25', '26', '27', '28') THEN
    IF length(value) = 10 THEN RETURN value::timestamp AT TIME ZONE zone; END IF;
    IF translate(substr(value, 11), '0123456789', '0000000000') IN ('T00:00:00Z', 'T00:00:00.000Z')
      AND substr(value, 12, 2) COLLATE "C" < '24' AND substr(value, 15, 2) COLLATE "C" < '60'
      AND substr(value, 18, 2) COLLATE "C" < '60' THEN RETURN value::timestamptz; END IF;
  END IF;
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
