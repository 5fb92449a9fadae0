-- A record that was deleted and is made again takes the number that the drafts of change-sets have of it. It had a new one, so that a
-- change-set which had changed it hid the links of its new life. A first life has version 1, and is not asked.
CREATE FUNCTION plinth.keep_drafted_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.row_no := coalesce((
    SELECT min(d.row_no) FROM plinth.base b JOIN plinth.draft_record d
      ON d.branch = b.id AND d.record_type = NEW.record_type AND d.id = NEW.id
    WHERE b.production_base = NEW.base_id), NEW.row_no);
  RETURN NEW;
END $$;
CREATE TRIGGER keep_drafted_number BEFORE INSERT ON plinth.record FOR EACH ROW WHEN (NEW.version > 1)
  EXECUTE FUNCTION plinth.keep_drafted_number();
