-- A record with many links must not make the planner expect as many for every record: it would read the whole table once for
-- each record of a cascade, where an index entry is enough. Takes effect with the next ANALYZE.
ALTER TABLE plinth.relationship ALTER COLUMN source_row SET (n_distinct = -0.1);
ALTER TABLE plinth.relationship ALTER COLUMN target_row SET (n_distinct = -0.1);
