-- The MCP tool call that wrote an entry, as [id, tool, endpoint, client, trace id] without the nulls at its end: an object would
-- repeat five names in every entry. Null for every other write, which then costs no byte.
ALTER TABLE plinth.change ADD COLUMN call jsonb;
ALTER TABLE plinth.change ALTER COLUMN call SET STATISTICS 0;
