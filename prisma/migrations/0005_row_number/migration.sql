-- A record's number: shorter to find a record by than its name, for whatever refers to it from inside. Never shown, and
-- another one after a record was deleted and made again.
ALTER TABLE plinth.record ADD COLUMN row_no bigint GENERATED ALWAYS AS IDENTITY;
CREATE UNIQUE INDEX record_row_no ON plinth.record (row_no);

ALTER TABLE plinth.record_index ADD COLUMN row_no bigint;
UPDATE plinth.record_index i SET row_no = r.row_no
FROM plinth.record_type_index d JOIN plinth.record r ON r.base_id = d.base_id AND r.record_type = d.record_type
WHERE i.base_id = d.base_id AND i.index_id = d.id AND r.id = i.id;
-- What is left belongs to indexes that were dropped, whose entries a job is about to delete.
DELETE FROM plinth.record_index WHERE row_no IS NULL;
ALTER TABLE plinth.record_index ALTER COLUMN row_no SET NOT NULL;
DROP INDEX plinth.record_index_keys;
CREATE INDEX record_index_keys ON plinth.record_index (base_id, index_id, k1, k2, k3, id) INCLUDE (created_at, row_no);
