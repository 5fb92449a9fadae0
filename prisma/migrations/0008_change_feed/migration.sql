-- The entry before of what is neither a record nor a link. These have indexes by version.
CREATE INDEX change_of_resource ON plinth.change (base_id, kind, id, seq) WHERE kind NOT IN ('record', 'relationship');
