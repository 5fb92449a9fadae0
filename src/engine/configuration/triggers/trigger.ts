/** Triggers as a kind of configuration. Deliveries are in `triggers/`. */
import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import { RECORD_EVENTS, STEP_EVENTS, TriggerBody } from '../../../contract/trigger-shapes.ts'
import { urlFault } from '../../../foundation/egress/url-fault.ts'
import { type Detail, DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkChangeCondition, parseChangeCondition } from '../../data/filter/change-condition.ts'
import type { Trigger as Row } from '../../prisma/client.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { ACTION } from '../actions/index.ts'
import type { FieldsOf, Kind, Loaded } from '../lifecycle/kind.ts'
import { formerSecret, keptFormer } from '../lifecycle/rotate-secret.ts'
import { RECORD_TYPE, typeIn } from '../record-types/index.ts'
import { mentionsSecret } from '../vault-secrets/index.ts'
import { actionFaults } from './action-reference.ts'
import { headerFaults, headerSecretFaults, headerWarnings } from './headers.ts'
import { CALLS_PRODUCTION, callsProduction, lockPreviews } from './production-urls.ts'

type Body = z.output<typeof TriggerBody>
type Fields = Omit<FieldsOf<typeof TriggerBody>, 'condition'> & { condition: object | null }
type Events = NonNullable<Body['events']>

/** Results of the latest deliveries of a trigger. */
export type TriggerStatus = {
  readonly last_success_at: string | null
  readonly last_failure_at: string | null
  readonly consecutive_failures: number
  readonly disabled_reason: string | null
}

/** A new secret of the Standard Webhooks specification. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Triggers: changes of records that are sent to a URL, or that run an action. */
export const TRIGGER: Kind<Fields, Row> = {
  name: 'trigger',
  label: 'a trigger',
  codes: { notFound: 'trigger_not_found' },
  body: TriggerBody,
  secrets: { secret: newSecret },
  defaults: (id) => ({
    name: id,
    description: null,
    recordTypes: ['*'],
    events: [...RECORD_EVENTS],
    condition: null,
    url: null,
    action: null,
    headers: {},
    enabled: true,
    skipInboundWrites: true,
    secret: null,
    maxAttempts: LIMITS.deliveryAttempts,
  }),
  table: ({ orm }) => orm.trigger,
  normalize: (fields) => ({
    ...fields,
    recordTypes: [...new Set(fields.recordTypes)],
    events: [...new Set(fields.events)] as Events,
    url: fields.url !== null && URL.canParse(fields.url) ? new URL(fields.url).href : fields.url,
  }),
  references: ({ recordTypes, action }) => [
    ...recordTypes.flatMap((id, n) =>
      id === '*' ? [] : [{ kind: RECORD_TYPE, id, at: `/record_types/${n}`, instead: 'send ["*"] for all' }],
    ),
    ...(action === null ? [] : [{ kind: ACTION, id: action, at: '/action' }]),
  ],
  warnings: (_before, { url, headers }) => [
    ...(url?.startsWith('http:') ? ['The url is not encrypted: what is sent can be read on the way.'] : []),
    ...headerWarnings(headers),
  ],
  check: async (loaded, { baseId, id, current, before, next, options }) => {
    const isHeld = await callsProduction(loaded, next.url)
    return {
      faults: [
        ...(current === null ? await countFaults(loaded) : []),
        ...(await targetFaults(loaded, next)),
        ...headerFaults(next.headers),
        ...(await headerSecretFaults(loaded.scope.db, baseId, next.headers)),
        ...(await conditionFaults(loaded, options.leavesReferences ? { ...next, recordTypes: ['*'] } : next)),
        ...eventFaults(next),
      ],
      // Any write enables a trigger that the server has disabled, and resets its count of failures.
      isForced: current !== null && (current.disabledReason !== null || current.callsProduction !== isHeld),
      columns: async () => {
        const isRotated = before !== null && before.secret !== next.secret
        const isOn = before?.enabled && current?.disabledReason === null && !current.callsProduction
        return {
          ...(isRotated
            ? formerSecret(loaded.scope, { kind: TRIGGER, baseId, id }, before.secret)
            : keptFormer(current)),
          afterSeq: isOn ? Number(current?.afterSeq) : await lastSeq(loaded.scope.db),
          consecutiveFailures: null,
          failingSince: null,
          disabledReason: null,
          callsProduction: isHeld,
        }
      },
    }
  },
  shown: (row) => ({
    ...(row.disabledReason !== null && { enabled: false }),
    status: statusOf(row),
  }),
  written: async (scope, { baseId }) => {
    await scope.db.query(START_RELAY, [baseId])
    await lockPreviews(scope, baseId)
  },
  copiedColumns: () => ({
    ...{ former_secret: null, former_secret_until: null, last_success_at: null, last_failure_at: null },
    ...{ consecutive_failures: null, failing_since: null, disabled_reason: null, calls_production: true },
  }),
  // The records of a preview that was just created are no changes for its triggers. One that runs an action sends nothing out of the preview.
  copyParts: async (db, _from, to) => {
    await db.query(SKIP_COPIED, [to])
    await db.query(START_RELAY, [to])
  },
}

const statusOf = (row: Row): TriggerStatus => ({
  last_success_at: row.lastSuccessAt?.toISOString() ?? null,
  last_failure_at: row.lastFailureAt?.toISOString() ?? null,
  consecutive_failures: row.consecutiveFailures ?? 0,
  disabled_reason: row.callsProduction ? CALLS_PRODUCTION : row.disabledReason,
})

const LAST_SEQ = statement(
  'last_seq',
  `SELECT coalesce(pg_sequence_last_value('plinth.change_seq_seq'), 0)::float8 AS seq`,
)

/** The last number that the log has given out: entries after it come after this write began. */
async function lastSeq(db: Db): Promise<number> {
  const [row] = await db.query<{ seq: number }>(LAST_SEQ, [])
  return row?.seq ?? 0
}

const SKIP_COPIED = statement(
  'skip_copied_changes',
  `UPDATE plinth.trigger SET after_seq = coalesce(pg_sequence_last_value('plinth.change_seq_seq'), 0),
     calls_production = url IS NOT NULL
   WHERE base_id = $1`,
)
// Deliveries start where the first trigger of the base does.
const START_RELAY = statement(
  'start_relay',
  `INSERT INTO plinth.trigger_relay (base_id, seq)
   SELECT base_id, min(after_seq) FROM plinth.trigger WHERE base_id = $1 GROUP BY base_id ON CONFLICT DO NOTHING`,
)

/** A write makes a delivery for each trigger that it meets. */
async function countFaults({ scope, baseId }: Loaded): Promise<Detail[]> {
  if ((await scope.db.orm.trigger.count({ where: { baseId } })) < LIMITS.triggers) return []
  return [
    {
      path: '/id',
      code: 'too_many',
      message: `A base can have at most ${LIMITS.triggers} triggers. Delete one, or let one follow several record types.`,
      expected: LIMITS.triggers,
    },
  ]
}

/** Exactly one of url and action says what becomes of a change. */
async function targetFaults(loaded: Loaded, { url, action, headers }: Fields): Promise<Detail[]> {
  if (action === null)
    return url === null || url === ''
      ? [
          {
            path: '/url',
            code: 'required',
            message:
              'url is required: where changes are sent. Or send action: the id of an action that they run.',
          },
        ]
      : urlFaults(loaded, url)
  const own = await actionFaults(loaded, action, headers)
  if (url === null) return own
  const message = 'A trigger must have either url or action. Send null for one of them.'
  return [{ path: '/action', code: 'exclusive', message }, ...own]
}

function urlFaults({ scope }: Loaded, url: string): Detail[] {
  if (mentionsSecret(decoded(url)))
    return [
      {
        path: '/url',
        code: 'secret_in_url',
        message: 'The url of a trigger cannot have a secret: it is shown and logged. Send it in a header.',
      },
    ]
  const fault = urlFault(url, scope.egress.privateHosts)
  return fault ? [{ path: '/url', ...fault }] : []
}

/** The url as it was written: braces are escaped where it is stored. */
const decoded = (url: string): string => url.replace(/%7b/gi, '{')

/** A change-set holds records of several types, and a token writes them: what selects records selects none of their steps. */
function eventFaults({ events, recordTypes, condition }: Fields): Detail[] {
  const n = events.findIndex((event) => (STEP_EVENTS as readonly string[]).includes(event))
  if (n < 0 || (condition === null && recordTypes.includes('*'))) return []
  const message = `"${events[n]}" needs record_types ["*"] and no condition. Follow records with another trigger.`
  return [{ path: `/events/${n}`, code: 'exclusive', message }]
}

/** Parses the condition, and checks it against the record types that the trigger names. */
async function conditionFaults(
  loaded: Loaded,
  { condition, recordTypes }: Fields,
): Promise<readonly Detail[]> {
  if (condition === null) return []
  try {
    const parsed = parseChangeCondition(condition, '/condition')
    for (const id of recordTypes) {
      const type = id === '*' ? null : await typeIn(loaded, id)
      if (type !== undefined) checkChangeCondition(parsed, type)
    }
    return []
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    return thrown.details
  }
}
