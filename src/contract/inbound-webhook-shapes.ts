import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { REDACTED } from '../foundation/redacted.ts'
import { JsonPath, mappedFields } from './mapping-shapes.ts'
import { HeaderName } from './outgoing-headers.ts'
import { Name } from './shapes.ts'

/** Zod shapes of inbound webhooks and their deliveries, shared by all layers. */

/** How senders sign. */
export const SIGNATURE_SCHEMES = ['standard', 'github', 'stripe', 'slack', 'hmac', 'token'] as const

export const INBOUND_STATUSES = ['succeeded', 'failed'] as const

const SignatureShape = z
  .strictObject({
    scheme: z.enum(SIGNATURE_SCHEMES).meta({
      description:
        '`standard` (Standard Webhooks, also with the header names of Svix), `github`, `stripe`, `slack`, `hmac` for any other HMAC, or `token` for a sender that sends the secret itself.',
    }),
    header: HeaderName.optional().meta({
      description:
        'The header with the signature. Required for `hmac`; others have their own. With `token`: the header with the secret; without it, the secret is the password of basic authentication.',
    }),
    algorithm: z.enum(['sha256', 'sha1', 'sha512']).optional().meta({
      description: 'Of `hmac`. Defaults to `sha256`.',
    }),
    encoding: z.enum(['hex', 'base64']).optional().meta({ description: 'Of `hmac`. Defaults to `hex`.' }),
    prefix: z.string().min(1).max(64).optional().meta({
      description:
        'Of `hmac` and `token`: what stands before the signature in its header, such as `sha256=` or `Bearer `.',
    }),
    timestamp_header: HeaderName.optional().meta({
      description:
        'Of `hmac`: the header with the time of sending, as Unix seconds or milliseconds, or RFC 3339.',
    }),
    signed: z
      .string()
      .min(1)
      .max(
        LIMITS.signedTemplateChars,
        `A template of what is signed has at most ${LIMITS.signedTemplateChars} characters.`,
      )
      .optional()
      .meta({
        description:
          'Of `hmac`: what is signed, with `{body}`, and with `{timestamp}`, `{method}` and `{url}` (the ingest_url) where the sender signs them. Defaults to `{body}`, or to `{timestamp}.{body}` with a timestamp_header.',
      }),
    tolerance_seconds: z
      .int()
      .min(1)
      .max(LIMITS.inboundToleranceSecondsMax)
      .optional()
      .meta({
        description: `How far the time of sending may be from now, where it is signed. Defaults to ${LIMITS.inboundToleranceSeconds}.`,
      }),
  })
  .meta({ id: 'InboundSignature' })

const MappedLink = z
  .strictObject({
    rel_type: z.string().meta({ description: 'A relationship type.' }),
    direction: z
      .enum(['outgoing', 'incoming'])
      .optional()
      .meta({ description: 'Defaults to `outgoing`, from the record that the delivery writes.' }),
    record_type: z.string().meta({ description: 'The type of the other record.' }),
    id: JsonPath.optional().meta({
      description: 'The JSONPath of the id of the other record, or of its external_id.',
    }),
    external_id: JsonPath.optional(),
    external_source: z.string().max(LIMITS.jsonPathChars).optional().meta({
      description: 'A JSONPath, or the external_source itself. Defaults to `default`.',
    }),
  })
  .meta({
    id: 'InboundRelationship',
    description: 'Where the path finds nothing, none is added; where it finds several, one each.',
  })

const MappingShape = z
  .strictObject({
    external_id: JsonPath.optional().meta({
      description: 'The JSONPath of the external_id. A delivery with one that exists updates that record.',
    }),
    external_source: z.string().max(LIMITS.jsonPathChars).optional().meta({
      description: 'A JSONPath, or the external_source itself. Defaults to `default`.',
    }),
    data: mappedFields('Properties of `data`. Without it, `data` is the payload.').optional(),
    items: JsonPath.optional().meta({
      description:
        'The JSONPath of an array: each element makes a record, all or none. Other paths then start at the element, and `$$` is the payload.',
    }),
    relationships: z
      .array(MappedLink)
      .max(LIMITS.mappedLinks, `Map at most ${LIMITS.mappedLinks} relationships.`)
      .optional()
      .meta({ description: 'Relationships to add with the record, in the same transaction.' }),
    on_existing: z.enum(['update', 'keep']).optional().meta({
      description:
        'What becomes of a record that exists: `update` (default), or `keep`, which leaves it and its relationships as they are.',
    }),
  })
  .meta({ id: 'InboundMapping' })

/** How the sender of an inbound webhook signs. */
export type Signature = z.output<typeof SignatureShape>
/** How a payload becomes a record. */
export type Mapping = z.output<typeof MappingShape>

/** The body of an inbound webhook on every surface. */
export const InboundWebhookBody = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  record_type: z.string().max(64).optional().meta({ description: 'The record type that deliveries write.' }),
  signature: SignatureShape.optional().meta({
    description: 'How the sender signs. Defaults to `{ "scheme": "standard" }`.',
  }),
  mapping: MappingShape.nullable()
    .optional()
    .meta({ description: 'How a payload becomes a record. Null: the payload is the `data` of the record.' }),
  enabled: z.boolean().optional().meta({ description: 'Whether it takes deliveries. Defaults to true.' }),
  secret: z
    .union([
      z
        .string()
        .min(
          LIMITS.inboundSecretCharsMin,
          `A secret has at least ${LIMITS.inboundSecretCharsMin} characters.`,
        )
        .max(LIMITS.inboundSecretChars, `A secret has at most ${LIMITS.inboundSecretChars} characters.`)
        .regex(
          /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
          'A secret has visible ASCII characters, and spaces only between them.',
        ),
      z.literal(REDACTED),
    ])
    .nullable()
    .optional()
    .meta({
      description:
        'The key that signs deliveries. Made if absent, and shown once, in the answer that makes it. `<redacted>` keeps the stored one.',
    }),
})
