/** Inbound webhooks as a kind of configuration. What arrives is taken in `inbound/`. */
import { InboundWebhookBody, type Mapping } from '../../../contract/inbound-webhook-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkJson, pointer } from '../../../json/parse.ts'
import type { InboundWebhook as Row } from '../../prisma/client.ts'
import { fieldFaults } from '../../schema/field-mapping/map-fields.ts'
import { pathFault } from '../../schema/json-path/json-path.ts'
import type { FieldsOf, Kind } from '../lifecycle/kind.ts'
import { formerSecret, keptFormer } from '../lifecycle/rotate-secret.ts'
import { RECORD_TYPE } from '../record-types/record-type.ts'
import { RELATIONSHIP_TYPE } from '../relationship-types/relationship-type.ts'
import { newSecret } from '../triggers/index.ts'
import { completeSignature, signatureFaults } from './signature.ts'

/** Faults of a mapping: its paths and its dates. */
async function mappingFaults(mapping: Mapping | null): Promise<Detail[]> {
  if (mapping === null) return []
  const { external_id, external_source, data = {}, items, relationships = [] } = mapping
  const hasItems = items !== undefined
  const faults: Detail[] = []
  if (external_source !== undefined && external_id === undefined)
    faults.push({
      path: '/mapping/external_source',
      code: 'required',
      message: 'external_source needs an external_id beside it.',
    })
  if (items !== undefined) faults.push(...pathFault(items, '/mapping/items'))
  if (external_id !== undefined) faults.push(...itemFault(external_id, hasItems, '/mapping/external_id'))
  if (external_source?.startsWith('$'))
    faults.push(...itemFault(external_source, hasItems, '/mapping/external_source'))
  for (const [n, { id, external_id: otherId, external_source: source }] of relationships.entries()) {
    const at = `/mapping/relationships/${n}`
    if ((id === undefined) === (otherId === undefined))
      faults.push({
        path: `${at}/external_id`,
        code: id === undefined ? 'required' : 'exclusive',
        message: 'Name the other record by the JSONPath of its id or of its external_id, one of them.',
      })
    if (source !== undefined && otherId === undefined)
      faults.push({
        path: `${at}/external_source`,
        code: 'required',
        message: 'external_source needs an external_id beside it.',
      })
    if (id !== undefined) faults.push(...itemFault(id, hasItems, `${at}/id`))
    if (otherId !== undefined) faults.push(...itemFault(otherId, hasItems, `${at}/external_id`))
    if (source?.startsWith('$')) faults.push(...itemFault(source, hasItems, `${at}/external_source`))
  }
  if (mapping.on_existing === 'keep' && external_id === undefined)
    faults.push({
      path: '/mapping/on_existing',
      code: 'required',
      message: 'on_existing needs an external_id: without one, each delivery makes a record.',
    })
  for (const [name, field] of Object.entries(data))
    faults.push(
      ...(await fieldFaults(field, `/mapping/data${pointer(name)}`, (path, at) =>
        itemFault(path, hasItems, at),
      )),
    )
  return faults
}

/** Paths start at an element of `items`. With `$$` they start at the payload. */
const itemFault = (text: string, hasItems: boolean, at: string): Detail[] =>
  pathFault(hasItems && text.startsWith('$$') ? text.slice(1) : text, at)

type Fields = FieldsOf<typeof InboundWebhookBody>

/** Inbound webhooks: doors for payloads of other systems. */
export const INBOUND_WEBHOOK: Kind<Fields, Row> = {
  name: 'inbound_webhook',
  label: 'an inbound webhook',
  codes: { notFound: 'inbound_webhook_not_found' },
  body: InboundWebhookBody,
  secrets: { secret: newSecret },
  defaults: (id) => ({
    name: id,
    recordType: '',
    signature: { scheme: 'standard' },
    mapping: null,
    enabled: true,
    secret: null,
  }),
  table: ({ orm }) => orm.inboundWebhook,
  normalize: (fields) => ({ ...fields, signature: completeSignature(fields.signature) }),
  references: ({ recordType, mapping }) => [
    ...(recordType === '' ? [] : [{ kind: RECORD_TYPE, id: recordType, at: '/record_type' }]),
    ...(mapping?.relationships ?? []).flatMap(({ rel_type, record_type }, n) => [
      { kind: RELATIONSHIP_TYPE, id: rel_type, at: `/mapping/relationships/${n}/rel_type` },
      { kind: RECORD_TYPE, id: record_type, at: `/mapping/relationships/${n}/record_type` },
    ]),
  ],
  check: async ({ scope }, { baseId, id, current, before, next, options }) => ({
    // A secret that a PUT or PATCH sets replaces the former one at once.
    columns: () =>
      before === null || before.secret === next.secret
        ? keptFormer(current)
        : options.keepsFormerSecret
          ? formerSecret(scope, { kind: INBOUND_WEBHOOK, baseId, id }, before.secret)
          : keptFormer(null),
    faults: [
      ...(next.recordType === '' ? [NO_TYPE] : []),
      ...signatureFaults(scope, { baseId, id }, next, before),
      ...(next.mapping === null ? [] : sizeFaults(next.mapping)),
      ...(await mappingFaults(next.mapping)),
    ],
  }),
  shown: (row) => ({ status: statusOf(row) }),
  copiedColumns: () => ({
    ...{ former_secret: null, former_secret_until: null, refused: null, last_refused_at: null },
  }),
}

/** Deliveries whose signature was refused. */
export type InboundStatus = { readonly refused: number; readonly last_refused_at: string | null }

const statusOf = ({ refused, lastRefusedAt }: Row): InboundStatus => ({
  refused: Number(refused ?? 0),
  last_refused_at: lastRefusedAt?.toISOString() ?? null,
})

const NO_TYPE: Detail = {
  path: '/record_type',
  code: 'required',
  message: 'record_type is required: the type of the records that deliveries write.',
}

function sizeFaults(mapping: Mapping): Detail[] {
  checkJson(mapping, '/mapping')
  if (JSON.stringify(mapping).length <= LIMITS.mappingChars) return []
  return [
    {
      path: '/mapping',
      code: 'too_large',
      message: `A mapping can have at most ${LIMITS.mappingChars} characters as JSON. Shorten it.`,
      expected: LIMITS.mappingChars,
    },
  ]
}
