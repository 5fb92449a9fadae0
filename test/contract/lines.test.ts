/** How many lines each part of src may have. Growth is a decision (docs/adr/0071-a-budget-of-lines.md). */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const BUDGETS: Readonly<Record<string, number>> = {
  // Archiving, backups, their check and removal, and restores, to a directory or a bucket.
  backup: 1750,
  // With the replay of recorded calls: which run again, on which state, and where they end otherwise.
  cli: 7000,
  config: 750,
  // With the way from an external id to the record.
  contract: 3508,
  dialects: 1750,
  engine: 750,
  'engine/analytics': 4738,
  'engine/automation': 5197,
  // With the authorizations of OAuth clients, the change-sets of a record, the reading of one token, and imports of what no longer fits. With sessions that are read again where a token is paused. With row policies that follow renamed properties, and the refusal of changes that they cannot follow.
  'engine/configuration': 9950,
  // With the refusal of an external id that production has given away, where it is found: at each write of drafts. With whole results of change-sets, and pages of records that came to be on both sides. With the pauses of a session.
  'engine/core': 4023,
  'engine/data': 4492,
  // With a base as one file: the lines of it, their checks, and what refuses a hostile one. With the pace of agents and their pauses. With rollbacks in parts, and values, places, external ids and ends that a proposal finds taken or gone, deletions that grew, and what an endpoint shows of it. With the hash of a preview that was looked at. With fields that are discarded, and the values of conflicts. With the fork of what force replaced, for rollbacks. With pauses by hand.
  'engine/environments': 7204,
  'engine/files': 3487,
  'engine/history': 4474,
  'engine/jobs': 1249,
  'engine/log': 2242,
  'engine/records': 10_716,
  'engine/schema': 4250,
  'engine/sql': 8246,
  // With the reads on a standby and when there are none, statements that are prepared, and a lock of migrations that holds behind a pooler. With what a paused token may.
  'engine/storage': 4553,
  foundation: 2500,
  // With what a token proposes, unnamed, who proposed the changes of a group, one token, a filter on what the schema refuses, fields in the words of other servers, whether an address is that of a change-set, and records whose external id is sent. With pauses by hand, and how much of a group is undone.
  graphql: 12_609,
  // With forms that end whole however they fail, a budget for the bodies of requests without a token, and a page for unknown paths.
  http: 2793,
  json: 1492,
  // Views in the chat: the pages, the sealed decisions and the tool that takes them, also at endpoints. Calls that go on as tasks. With lists that leave out what change-sets and proposals lack, and updates that name an external id. With the error of a paused token.
  mcp: 12_759,
  // With an authorization server, its page of consent, and the sign-in of people at a provider.
  oauth: 1989,
  postgres: 1500,
  // With the pace of a token, and who proposed the changes of a group. With pauses by hand.
  rest: 9695,
  s3: 2472,
  'schema-shape': 1750,
  src: 1000,
}
/** So much less, and the budget follows. */
const SPARE = 1000

const PARTS = Map.groupBy(
  globSync('src/**/*.ts', { exclude: ['src/engine/prisma/**'] }),
  (path) => /^src\/(engine\/[^/]+|[^/]+)\//.exec(path)?.[1] ?? 'src',
)

test.each([...PARTS])('%s has the lines that its budget says', (part, paths) => {
  const lines = paths.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0)
  const budget = BUDGETS[part] ?? 0
  expect(lines, `${part} has grown: make it smaller, or raise its budget and say why`).toBeLessThanOrEqual(
    budget,
  )
  expect(lines, `${part} has shrunk: lower its budget`).toBeGreaterThan(budget - SPARE)
})
