-- Tool calls that go on after their answer. What they answer in the end is sealed for the token that made them.
CREATE TABLE plinth.mcp_task (
  id         uuid NOT NULL DEFAULT gen_random_uuid(),
  token_id   text COLLATE "C" NOT NULL,
  status     text NOT NULL DEFAULT 'working',
  message    text,
  -- Rises with each change of the status, which names the one it saw.
  step       integer NOT NULL DEFAULT 0,
  sealed     text,
  is_withdrawn boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT mcp_task_pkey PRIMARY KEY (id)
);
CREATE INDEX mcp_task_of_token ON plinth.mcp_task (token_id);
CREATE INDEX mcp_task_age ON plinth.mcp_task (updated_at);
