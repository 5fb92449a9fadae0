-- Which change-sets delete relationships of a record: a deleted one has no home, by which the others are found.
CREATE INDEX draft_relationship_gone_outgoing ON plinth.draft_relationship (source_row) WHERE gone;
CREATE INDEX draft_relationship_gone_incoming ON plinth.draft_relationship (target_row) WHERE gone;
