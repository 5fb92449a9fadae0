-- The text index of the files of a base: the words of their paths and texts. Its entries are in plinth.record_text and
-- plinth.record_word like those of declared indexes, under an id that no other index has.
ALTER TABLE plinth.base
  ADD COLUMN file_index_id bigint NOT NULL DEFAULT nextval('plinth.record_type_index_id_seq');
