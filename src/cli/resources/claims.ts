import type { Noun, Row } from '../command/command.ts'
import { EXIT } from '../command/failure.ts'
import { count, json, type Option, paging, query, queryFlag, text, writing } from '../command/options.ts'
import { note, show } from '../command/print.ts'
import { showRecords } from '../command/show-records.ts'

type Claimed = {
  data: { record: Record<string, unknown>; claim: { id: string; expires_at: string } }[]
  meta: { hint?: string }
}

const lease = count(
  '--lease-seconds <count>',
  'lease_seconds',
  'seconds until it expires without a heartbeat',
)

/** Command `plinth claim <type>`. */
export const claim: Row = {
  name: 'claim',
  summary: 'Claim records of a type: each is assigned to one caller until its lease ends',
  method: 'POST',
  path: '/:base_id/records/:record_type/claim',
  options: [
    json('--filter <json>', 'filter', '{"field":"data.status","op":"eq","value":"open"}'),
    text('--sort <fields>', 'sort', 'order, such as -data.priority (default: oldest first)'),
    count('--limit <count>', 'limit', 'maximum number of records, 1 to 100 (default: 1)'),
    lease,
    count('--max-attempts <count>', 'max_attempts', 'skip records that were claimed this often'),
    json('--patch <json>', 'patch', 'merge this into the data of each claimed record: {"status":"doing"}'),
    ...writing,
  ],
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
}

type Acted = { meta?: { refused?: number } }

const several: Option = {
  ...text('--claim-id <id>', 'claim_ids', 'a claim, in place of the argument; repeat it for several'),
  several: true,
}

const act = (name: string, summary: string, options: Row['options'] = []): Row => ({
  name,
  summary,
  method: 'POST',
  path: `/:base_id/claims/:id?/${name}`,
  pathWithout: `/:base_id/claims/${name}`,
  options: [several, ...options, ...writing],
  // Each claim of a list is answered by itself.
  exitCode: ({ body }) => ((body as Acted).meta?.refused ? EXIT.failed : EXIT.ok),
  columns: ['id', 'record_type', 'record_id', 'status', 'attempts', 'expires_at', 'error'],
})

const COLUMNS = ['id', 'record_type', 'record_id', 'status', 'holder', 'claimed_at', 'attempts', 'expires_at']

export const claims: Noun = {
  name: 'claims',
  summary: 'Claims: records assigned to one worker',
  columns: COLUMNS,
  rows: [
    {
      name: 'list',
      summary: 'List claims',
      method: 'GET',
      path: '/:base_id/claims',
      options: [
        query('--status <status>', 'status', 'active, completed or exhausted'),
        query('--record-type <type>', 'record_type', 'only on records of this type'),
        query('--record-id <id>', 'record_id', 'only on records with this id'),
        query('--holder <token>', 'holder', 'only of this token, by id or name'),
        ...paging,
      ],
      show: (answer) => {
        const { data, ...rest } = answer.body as { data: { holder: { name: string } }[] }
        const rows = data.map((claim) => ({ ...claim, holder: claim.holder.name }))
        show({ ...answer, body: { ...rest, data: rows } }, COLUMNS)
      },
    },
    { name: 'get', summary: 'Show a claim', method: 'GET', path: '/:base_id/claims/:id', options: [] },
    act('heartbeat', 'Extend a claim by its lease', [lease]),
    act('release', 'Release a claim: its record can be claimed again', [
      queryFlag('--force', 'force', 'also the claim of another token, with manage on the record type'),
    ]),
    act('complete', 'Complete a claim: its record cannot be claimed again until it changes'),
  ],
}
