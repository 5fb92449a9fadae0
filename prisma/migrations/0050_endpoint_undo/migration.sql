-- Whether callers may take back what they did at an endpoint.
ALTER TABLE plinth.endpoint ADD COLUMN undo boolean NOT NULL DEFAULT false;
