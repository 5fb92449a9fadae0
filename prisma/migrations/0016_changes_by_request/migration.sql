-- All changes of one request, in order. Generated request ids rise with time, so that new entries go to the end.
CREATE INDEX change_of_request ON plinth.change (base_id, request_id COLLATE "C", seq);

-- The changes that followed from an entry, such as its revert. Most entries have no cause.
CREATE INDEX change_of_cause ON plinth.change (base_id, cause COLLATE "C", seq) WHERE cause IS NOT NULL;
