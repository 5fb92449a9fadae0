/** The visibility of entries as SQL, for answers that count them. Same rules as `mayRead`. */

const endsIn = (
  data: string,
  types: string,
): string => `(${data} ->> 'source_record_type' = ANY (${types}::text[])
         AND ${data} ->> 'target_record_type' = ANY (${types}::text[]))`

const namesOnly = (data: string, types: string): string => `(
         SELECT coalesce(bool_and(name = ANY (${types}::text[])), true)
         FROM jsonb_array_elements_text(${data} -> 'sourceRecordTypes' || ${data} -> 'targetRecordTypes') AS n (name)
         WHERE name <> '*')`

/** Whether the entry `c` is visible to a reader of the bound types. */
export const visibleTo = (types: string): string => `CASE
       WHEN c.kind = 'base' THEN true
       WHEN c.kind = 'record_type' THEN c.id = ANY (${types}::text[])
       WHEN c.record_type IS NOT NULL THEN c.record_type = ANY (${types}::text[])
       WHEN c.data IS NULL THEN false
       WHEN c.kind = 'attachment' THEN c.data ->> 'recordType' = ANY (${types}::text[])
       WHEN c.kind = 'relationship' THEN ${endsIn('c.data', types)}
       WHEN c.kind = 'relationship_type' THEN ${namesOnly('c.data', types)} AND (
         c.operation IN ('create', 'delete') OR coalesce((
           SELECT p.data IS NULL OR ${namesOnly('p.data', types)} FROM plinth.change p
           WHERE p.kind NOT IN ('record', 'relationship') AND p.base_id = c.base_id AND p.kind = c.kind AND p.id = c.id
             AND p.seq < c.seq ORDER BY p.seq DESC LIMIT 1), true))
       ELSE false END`
