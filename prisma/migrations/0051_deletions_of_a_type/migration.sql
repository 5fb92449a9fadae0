-- Which records of a type were deleted since a time: a read of the past looks them up in the log.
CREATE INDEX change_deleted_records ON plinth.change (base_id, record_type, at) WHERE kind = 'record' AND operation = 'delete';
