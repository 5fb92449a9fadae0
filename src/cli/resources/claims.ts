import type { Noun, Row } from '../command/command.ts'
import { EXIT } from '../command/failure.ts'
import { commandOf, type Says } from '../command/operations.ts'
import { type Option, text } from '../command/options.ts'
import { note } from '../command/print.ts'
import { showRecords } from '../command/show-records.ts'

type Claimed = {
  data: { record: Record<string, unknown>; claim: { id: string; expires_at: string } }[]
  meta: { hint?: string }
}

const lease = '<count> seconds until it expires without a heartbeat'

/** Command `plinth claim <type>`. */
export const claim = commandOf('claims.create', 'claim', {
  says: {
    sort: '<fields> order, such as -data.priority (default: oldest first)',
    limit: '<count> maximum number of records, 1 to 100 (default: 1)',
    lease_seconds: lease,
    max_attempts: 'skip records that were claimed this often',
    patch: 'merge this into the data of each claimed record: {"status":"doing"}',
  },
  show: async ({ body }, asked) => {
    const { data, meta } = body as Claimed
    const rows = data.map(({ record, claim }) => ({
      ...record,
      claim: claim.id,
      expires_at: claim.expires_at,
    }))
    await showRecords(rows, asked, ['claim', 'expires_at'])
    if (meta.hint) note(`${meta.hint}\n`)
  },
})

type Acted = { meta?: { refused?: number } }

const several: Option = {
  ...text('--claim-id <id>', 'claim_ids', 'a claim, in place of the argument; repeat it for several'),
  several: true,
}

const act = (name: string, says: Says = {}): Row =>
  commandOf(`claims.${name}`, name, {
    path: `/:base_id/claims/:id?/${name}`,
    pathWithout: `/:base_id/claims/${name}`,
    says,
    also: [several],
    // Each claim of a list is answered by itself.
    exitCode: ({ body }) => ((body as Acted).meta?.refused ? EXIT.failed : EXIT.ok),
    columns: ['id', 'record_type', 'record_id', 'status', 'attempts', 'expires_at', 'error'],
  })

export const claims: Noun = {
  name: 'claims',
  summary: 'Claims: records assigned to one worker',
  columns: ['id', 'record_type', 'record_id', 'status', 'holder', 'claimed_at', 'attempts', 'expires_at'],
  rows: [
    commandOf('claims.list', 'list', {
      says: {
        status: '<status> active, completed or exhausted',
        record_type: '<type> only on records of this type',
        record_id: '<id> only on records with this id',
        holder: '<token> only of this token, by id or name',
      },
    }),
    commandOf('claims.get', 'get', { summary: 'Show a claim' }),
    act('heartbeat', { lease_seconds: lease }),
    act('release', { force: 'also the claim of another token, with manage on the record type' }),
    act('complete'),
  ],
}
