import { succeed } from './answers.ts'
import type { Body, Call } from './server.ts'

/** A sample of a configuration kind: its path, a body that sets all fields, and the defaults. */
export type KindSample = {
  noun: string
  body: Body
  defaults: Body
  /** The least body that creates one; by default, an empty one. */
  least?: Body
  /** It is written in previews only. */
  isPreviewOnly?: true
}

/**
 * Samples by kind as named in the change log. Bodies refer to the record type `note`, the relationship type
 * `about` and the toolset `shared`.
 */
export const KIND_SAMPLES: Readonly<Record<string, KindSample>> = {
  record_type: {
    noun: 'record-types',
    body: {
      name: 'Deal',
      description: 'What is being sold.',
      icon: 'coin',
      color: 'green',
      json_schema: { type: 'object', properties: { stage: { type: 'string' } } },
      timezone: 'Europe/Zurich',
      display: { title: 'stage' },
    },
    defaults: {
      description: null,
      icon: null,
      color: null,
      json_schema: {},
      indexes: [],
      timezone: 'UTC',
      display: {},
    },
  },
  relationship_type: {
    noun: 'relationship-types',
    body: {
      name: 'Knows',
      description: 'Who knows whom.',
      data_schema: { type: 'object', properties: { since: { type: 'string' } } },
      source_record_types: ['note'],
      target_record_types: ['note'],
      cardinality: 'one_to_many',
      on_delete: 'cascade',
    },
    defaults: {
      description: null,
      data_schema: {},
      source_record_types: ['*'],
      target_record_types: ['*'],
      cardinality: 'many_to_many',
      on_delete: 'unlink',
    },
  },
  file_type: {
    noun: 'file-types',
    body: {
      name: 'Contracts',
      description: 'Signed contracts.',
      storage: {
        max_bytes: 1000,
        content_types: ['application/pdf', 'text/*'],
        keep_versions: 3,
        immutable: true,
      },
      metadata_schema: { type: 'object', properties: { year: { type: 'integer' } } },
    },
    defaults: {
      description: null,
      storage: { max_bytes: 5_368_709_120, content_types: [], keep_versions: null, immutable: false },
      metadata_schema: {},
    },
  },
  toolset: {
    noun: 'toolsets',
    body: {
      name: 'Reading',
      description: 'Tools that change nothing.',
      tools: [{ record_type: 'note', operations: ['get', 'list'] }],
    },
    defaults: { description: null, tools: [] },
  },
  endpoint: {
    noun: 'endpoints',
    body: {
      name: 'Desk',
      description: 'For the assistant of sales.',
      instructions: 'Deals are in euros.',
      toolsets: ['shared'],
      tools: [{ record_type: 'note', operations: ['create'] }],
      relationships: [{ rel_type: 'about', operations: ['link'] }],
      batch: { enabled: true },
      sql_query: true,
      resources: true,
      undo: true,
      actions: [],
      enabled: false,
    },
    defaults: {
      description: null,
      instructions: null,
      toolsets: [],
      tools: [],
      relationships: [],
      batch: { enabled: false },
      sql_query: false,
      resources: false,
      undo: false,
      actions: [],
      enabled: true,
    },
  },
  trigger: {
    noun: 'triggers',
    body: {
      name: 'Won deals',
      description: 'For the accounts.',
      record_types: ['note'],
      events: ['create', 'update'],
      condition: { field: 'previous.data.stage', op: 'neq', value: 'won' },
      url: 'https://hooks.invalid/won',
      headers: { 'X-Source': 'crm' },
      enabled: false,
      skip_inbound_writes: false,
      max_attempts: 3,
    },
    defaults: {
      description: null,
      record_types: ['*'],
      events: ['create', 'update', 'cancel', 'delete', 'restore'],
      condition: null,
      url: 'https://hooks.invalid/',
      headers: {},
      enabled: false,
      skip_inbound_writes: true,
      max_attempts: 12,
    },
    least: { url: 'https://hooks.invalid/', enabled: false },
  },
  inbound_webhook: {
    noun: 'inbound-webhooks',
    body: {
      name: 'Orders',
      record_type: 'note',
      signature: {
        scheme: 'hmac',
        header: 'X-Sig',
        algorithm: 'sha512',
        encoding: 'base64',
        timestamp_header: 'X-Time',
        tolerance_seconds: 60,
      },
      mapping: { external_id: '$.id', data: { text: { path: '$.text', default: 'none' } } },
      enabled: false,
    },
    defaults: {
      record_type: 'note',
      signature: { scheme: 'standard', tolerance_seconds: 300 },
      mapping: null,
      enabled: true,
    },
    least: { record_type: 'note' },
  },
  action: {
    noun: 'actions',
    body: {
      name: 'Add a note',
      description: 'For the desk.',
      input_schema: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false },
      steps: [
        { name: 'add', type: 'create_record', record_type: 'note', data: { text: '{{input.text}}' } },
        { name: 'all', type: 'query', record_type: 'note', limit: 5 },
      ],
      output: { id: '{{steps.add.id}}' },
    },
    defaults: {
      description: null,
      input_schema: {},
      steps: [{ name: 'all', type: 'query', record_type: 'note' }],
      output: null,
    },
    least: { steps: [{ name: 'all', type: 'query', record_type: 'note' }] },
  },
  seed: {
    noun: 'seeds',
    body: {
      name: 'Demo',
      description: 'For a first look.',
      records: [
        { record_type: 'note', external_id: 'one', data: { text: 'First' } },
        { record_type: 'note', external_id: 'two', data: {} },
      ],
      relationships: [
        {
          rel_type: 'about',
          source: { record_type: 'note', external_id: 'one' },
          target: { record_type: 'note', external_id: 'two' },
          data: { since: '2026' },
        },
      ],
    },
    defaults: { description: null, records: [], relationships: [] },
    isPreviewOnly: true,
  },
}

/** Creates in a base what the bodies of the samples refer to. */
export async function putReferences(call: Call, base: string): Promise<void> {
  for (const path of ['record-types/note', 'relationship-types/about', 'toolsets/shared'])
    succeed(await call('PUT', `/v1/${base}/${path}`, {}), 201)
}

/** Puts a resource of a kind on a production base; by way of a preview, if the kind takes no other. */
export async function putOnProduction(call: Call, base: string, kind: string, id: string, body: Body) {
  const { noun, isPreviewOnly } = KIND_SAMPLES[kind] as KindSample
  if (!isPreviewOnly) return void (await call('PUT', `/v1/${base}/${noun}/${id}`, body))
  const from = `${base}--way`
  succeed(await call('POST', `/v1/${base}/preview`, { name: 'way' }), 201)
  await call('PUT', `/v1/${from}/${noun}/${id}`, body)
  succeed(await call('POST', `/v1/${base}/promote`, { from, resources: [{ kind, id }] }))
  succeed(await call('DELETE', `/v1/bases/${from}`))
}

/** The base to write a kind of this noun in: itself, or its preview. */
export const homeOf = (noun: string, base: string, preview: string): string =>
  Object.values(KIND_SAMPLES).some((sample) => sample.noun === noun && sample.isPreviewOnly) ? preview : base

/** Adds a failed delivery to an inbound webhook; its values are the base and the id. */
export const FAILED_DELIVERY = `INSERT INTO plinth.inbound_delivery
  (base_id, webhook_id, id, status, error, body, request_id, last_attempt_at, created_at)
  VALUES ($1, $2, 'failed', 'failed', '{"code":"VALIDATION_ERROR","message":"No.","details":[]}', '{"id":"1"}', 'r', now(), now())`

/** The least body that creates a resource of the noun. */
export const leastOf = (noun: string): Body =>
  Object.values(KIND_SAMPLES).find((sample) => sample.noun === noun)?.least ?? {}

/** Nouns of the kinds that hold no records or links: their least body creates one. */
export const PLAIN_NOUNS: readonly string[] = Object.values(KIND_SAMPLES)
  .map(({ noun }) => noun)
  .filter((noun) => noun !== 'record-types' && noun !== 'relationship-types')
