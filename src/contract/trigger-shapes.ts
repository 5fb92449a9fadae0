import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { REDACTED } from '../foundation/redacted.ts'
import { CHANGE_SET_STEPS } from './change-set-shapes.ts'
import { outgoingHeaders, WrittenHeaderValue } from './outgoing-headers.ts'
import { Description, Name } from './shapes.ts'

/** Zod shapes of triggers and their deliveries, shared by all layers. */

/** The changes of records that a trigger can follow: operations of the change log. By default, it follows all. */
export const RECORD_EVENTS = ['create', 'update', 'cancel', 'delete', 'restore'] as const

/** The steps of change-sets that it can follow. */
const PREVIEW_EVENTS = CHANGE_SET_STEPS.map((step) => `preview.${step}` as const)

/** What happens to tokens: one is paused, or a person lets it go on. */
const TOKEN_EVENTS = ['token.paused', 'token.resumed'] as const

/** What a trigger of all record types can follow besides records. */
export const STEP_EVENTS = [...PREVIEW_EVENTS, ...TOKEN_EVENTS]

const TRIGGER_EVENTS = [...RECORD_EVENTS, ...STEP_EVENTS]

/** The type of the event that a delivery carries, by operation. That of a step is its own name. */
export const EVENT_TYPES = {
  create: 'record.created',
  update: 'record.updated',
  cancel: 'record.cancelled',
  delete: 'record.deleted',
  restore: 'record.restored',
} as const satisfies Record<(typeof RECORD_EVENTS)[number], string>

/** The event of a test delivery. */
export const TEST_EVENT = 'trigger.test'

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'dead'] as const

const Headers = outgoingHeaders(WrittenHeaderValue)

/** A secret of the Standard Webhooks specification: 24 to 64 bytes. */
const SigningSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'A secret is "whsec_" and 24 to 64 bytes as base64.')

/** The body of a trigger on every surface. */
export const TriggerBody = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  description: Description.optional(),
  record_types: z
    .array(z.string().max(64))
    .min(1, 'It must name at least one record type, or send ["*"] for all.')
    .max(LIMITS.relationshipEnds, `It can name at most ${LIMITS.relationshipEnds} record types.`)
    .optional()
    .meta({ description: 'Record types whose changes it follows. Defaults to `["*"]`, all.' }),
  events: z
    .array(z.enum(TRIGGER_EVENTS))
    .min(1, 'It must name at least one event.')
    .max(TRIGGER_EVENTS.length)
    .optional()
    .meta({
      description:
        'Changes of records that it follows: by default, all. Steps of change-sets, such as `preview.submitted`, and `token.paused` and `token.resumed` need all record types and no condition.',
    }),
  condition: z.unknown().optional().meta({
    description:
      'A filter of the record after the change. `previous.` before a field reads it as it was: `previous.data.stage`. Null for every change.',
  }),
  url: z.string().nullable().optional().meta({
    description:
      'Where changes are sent, as POST requests. Private addresses are refused. Send it, or `action`.',
  }),
  action: z.string().max(64).nullable().optional().meta({
    description:
      'The id of an action that changes run, in place of `url`. Its input is the `data` of the event.',
  }),
  headers: Headers.optional().meta({
    description: 'Headers that are sent along. A value may hold `{{secret:NAME}}`, a secret of the vault.',
  }),
  enabled: z.boolean().optional().meta({
    description:
      'Whether it sends. The server sets it to false when it disables the trigger: see `status.disabled_reason`.',
  }),
  skip_inbound_writes: z.boolean().optional().meta({
    description:
      'Leave out what an inbound webhook wrote, so that two systems do not echo. Defaults to true.',
  }),
  secret: z
    .union([SigningSecret, z.literal(REDACTED)])
    .nullable()
    .optional()
    .meta({
      description:
        'Signs the deliveries. Made if absent. Shown once, in the answer that makes it. `<redacted>` keeps the stored one.',
    }),
  max_attempts: z
    .int()
    .min(1)
    .max(LIMITS.deliveryAttemptsMax)
    .optional()
    .meta({ description: `Attempts of a delivery. Defaults to ${LIMITS.deliveryAttempts}.` }),
})
