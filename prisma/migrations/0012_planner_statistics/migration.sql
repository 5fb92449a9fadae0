-- Statistics that no plan uses and that are dear to make: ANALYZE reads whole documents of the log for them, and computes
-- the keys of thousands of texts.
ALTER TABLE plinth.change ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE plinth.relationship ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE plinth.record_text ALTER COLUMN words SET STATISTICS 0;
ALTER INDEX plinth.record_text_words ALTER COLUMN 1 SET STATISTICS 0;
