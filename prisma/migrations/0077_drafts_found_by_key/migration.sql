-- Whether a draft overrides a record is asked by branch, type and id. Without statistics, PostgreSQL took this index for it, as
-- it begins with the branch, and read all drafts of the change-set for each record. Row numbers alone are found by it now.
DROP INDEX plinth.draft_record_row_no;
CREATE UNIQUE INDEX draft_record_row_no ON plinth.draft_record (row_no, branch);

-- They call `jsonb_build_object`, which is stable. An immutable function with a stable one inside is not inlined, and takes twice
-- the time.
ALTER FUNCTION plinth_draft.content(jsonb, timestamptz, text, text) STABLE;
ALTER FUNCTION plinth_draft.content(plinth.draft_record) STABLE;
ALTER FUNCTION plinth_draft.content(plinth.draft_relationship) STABLE;
ALTER FUNCTION plinth_draft.differs(plinth.draft_record) STABLE;
ALTER FUNCTION plinth_draft.differs(plinth.draft_relationship) STABLE;
