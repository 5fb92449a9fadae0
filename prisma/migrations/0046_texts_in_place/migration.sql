-- A folded text of up to 8 KiB stays in the page of its row as it is. To compress it, as PostgreSQL does above 2 KiB, takes a fifth of
-- the time of its entry in the index, and a search expands it again.
ALTER TABLE plinth.record_text SET (toast_tuple_target = 8160);
