/**
 * Requests that succeed as they are, on a base `crm` with the record types `deal` and `company`. A test sends each of
 * them. What a server has named itself, such as the id of a claim, is a placeholder here.
 */
export type Example = {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: unknown
}

/** Path parameters that are the same in all examples. */
export const PARAMS: Readonly<Record<string, string>> = {
  base_id: 'crm',
  record_type: 'deal',
  file_type: 'docs',
  account_id: 'default',
  provider: 'openai',
}

const DEAL_SCHEMA = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string' },
    amount: { type: 'number', minimum: 0 },
    stage: { enum: ['open', 'won', 'lost'] },
    due: { type: 'string', format: 'date' },
  },
}
const OPEN = { field: 'data.stage', op: 'eq', value: 'open' }
const ENDS = {
  rel_type: 'with',
  source_record_type: 'deal',
  source_id: 'd1',
  target_record_type: 'company',
  target_id: 'acme',
}
const CONFIG = {
  plinth: 1,
  base: 'crm',
  record_types: [{ id: 'lead', name: 'Lead', json_schema: { type: 'object' } }],
}
/** An id that the server makes. */
const MADE = '01990000-0000-7000-8000-000000000001'
const DEAL = { id: 'd1' }
const made = { params: { id: MADE } }

/** Examples by operation id. An operation without one needs no more than the path parameters above. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  'bases.upsert': { params: { id: 'crm' }, body: { name: 'CRM', settings: { history_days: 365 } } },
  'bases.get': { params: { id: 'crm' } },
  'bases.import': { params: { id: 'crm-copy' }, body: 'the bytes of crm.plinth.tar' },
  'bases.delete': { params: { id: 'crm' }, query: { confirm: 'crm' } },

  'previews.create': { body: { name: 'dev', copy: 'config_and_sample' } },
  'previews.discard': {
    params: { base_id: 'crm--fix' },
    body: { resources: [{ kind: 'record', record_type: 'deal', id: 'd1' }] },
  },
  'previews.submit': { params: { base_id: 'crm--fix' }, body: { comment: 'Signed yesterday.' } },
  'previews.review': {
    params: { base_id: 'crm--fix' },
    body: { verdict: 'comment', text: 'Is this the final amount?' },
  },
  'previews.reviews': { params: { base_id: 'crm--fix' } },
  'previews.reopen': { params: { base_id: 'crm--lost' }, body: {} },
  'promotions.create': { body: { from: 'crm--dev' } },
  'promotions.propose': { body: { from: 'crm--dev' } },
  'promotions.rollBack': { body: { promotion_id: MADE } },
  'promotions.get': made,
  'reviewRequests.create': { body: { from: 'crm--dev', note: 'For the new team.' } },
  'reviewRequests.get': made,
  'reviewRequests.decision': {
    params: { id: MADE },
    body: { decision: 'send_back', note: 'Name the field.' },
  },
  'tokens.pause': { params: { id: MADE }, body: { note: 'It answers the wrong customers.' } },
  'tokens.resume': { params: { id: MADE }, body: { note: 'Its instructions are mended.' } },
  'config.diff': { params: { base_id: 'crm--dev' }, body: CONFIG },
  'config.apply': { params: { base_id: 'crm--dev' }, body: CONFIG },

  'recordTypes.upsert': { params: { id: 'deal' }, body: { name: 'Deal', json_schema: DEAL_SCHEMA } },
  'recordTypes.get': { params: { id: 'deal' } },
  'recordTypes.history': { params: { id: 'deal' } },
  'recordTypes.update': {
    params: { id: 'deal' },
    body: { indexes: [{ fields: ['data.stage', { field: 'data.amount', direction: 'desc' }] }] },
  },
  'recordTypes.delete': { params: { id: 'lead' }, query: { confirm: 'lead' } },
  'recordTypes.infer': { params: { id: 'deal' }, query: { from: 'records' } },
  'recordTypes.profile': { params: { id: 'deal' } },

  'records.query': {
    body: {
      filter: { and: [OPEN, { field: 'data.amount', op: 'gte', value: 1000 }] },
      sort: [{ field: 'data.amount', direction: 'desc' }],
      fields: ['id', 'data.title', 'data.amount'],
      limit: 10,
    },
  },
  'records.upsertByExternalId': {
    body: {
      external_source: 'salesforce',
      external_id: 'SF-001',
      data: { title: 'Anvils', amount: 1200.5, stage: 'open' },
    },
  },
  'records.create': { body: { data: { title: 'Rockets', amount: 800, stage: 'open' } } },
  'records.upsert': {
    params: DEAL,
    body: {
      data: { title: 'Anvils', amount: 1500, stage: 'open' },
      relationships: [{ rel_type: 'with', record_type: 'company', id: 'acme' }],
    },
  },
  'records.get': { params: DEAL },
  'records.update': { params: DEAL, body: { data: { stage: 'won' } } },
  'records.delete': { params: DEAL },
  'records.cancel': { params: DEAL, body: {} },
  'records.restore': { params: DEAL, body: {} },
  'records.related': { params: DEAL },
  'records.history': { params: DEAL },
  'records.aggregate': {
    body: {
      aggregations: [{ fn: 'count' }, { fn: 'sum', field: 'data.amount' }],
      group_by: ['data.stage'],
    },
  },
  'records.queryAcrossBases': { body: { bases: ['crm'], record_type: 'deal', filter: OPEN } },

  'attachments.create': {
    params: DEAL,
    body: { filename: 'offer.txt', content_type: 'text/plain', content: 'Twelve anvils' },
  },
  'attachments.list': { params: DEAL },
  'attachments.get': { params: { ...DEAL, filename: 'offer.txt' } },
  'attachments.delete': { params: { ...DEAL, attachment_id: MADE } },

  'batch.run': {
    body: {
      operations: [
        {
          type: 'upsert_record',
          record_type: 'company',
          id: 'acme',
          data: { name: 'Acme' },
        },
        {
          type: 'upsert_record',
          record_type: 'deal',
          id: 'd2',
          data: { title: 'Magnets', stage: 'open' },
          relationships: [{ rel_type: 'with', record_type: 'company', id: 'acme' }],
        },
      ],
    },
  },

  'relationshipTypes.upsert': {
    params: { id: 'with' },
    body: {
      source_record_types: ['deal'],
      target_record_types: ['company'],
      cardinality: 'many_to_one',
      on_delete: 'unlink',
    },
  },
  'relationshipTypes.get': { params: { id: 'with' } },
  'relationshipTypes.history': { params: { id: 'with' } },
  'relationshipTypes.update': { params: { id: 'with' }, body: { description: 'The company of a deal.' } },
  'relationshipTypes.delete': { params: { id: 'with' }, query: { confirm: 'with' } },
  'relationships.upsertByEnds': { body: { ...ENDS, replace: true } },
  'relationships.create': { body: { ...ENDS, source_id: 'd2' } },
  'relationships.deleteByEnds': { query: ENDS },
  'relationships.upsert': { params: { id: 'd1-acme' }, body: ENDS },
  'relationships.get': { params: { id: 'd1-acme' } },
  'relationships.delete': { params: { id: 'd1-acme' } },

  'fileTypes.upsert': {
    params: { id: 'docs' },
    body: { name: 'Documents', storage: { max_bytes: 1_000_000, content_types: ['text/*'] } },
  },
  'fileTypes.get': { params: { id: 'docs' } },
  'fileTypes.history': { params: { id: 'docs' } },
  'fileTypes.update': { params: { id: 'docs' }, body: { storage: { keep_versions: 10 } } },
  'fileTypes.delete': { params: { id: 'docs' }, query: { confirm: 'docs' } },
  'files.upload': { params: { path: 'offers/anvils.md' }, body: '# Anvils\n\nTwelve anvils.\n' },
  'files.download': { params: { path: 'offers/anvils.md' } },
  'files.update': {
    params: { path: 'offers/anvils.md' },
    body: { edits: [{ find: 'Twelve', replace: 'Twenty' }] },
  },
  'files.delete': { params: { path: 'offers/anvils.md' } },
  'files.search': { query: { search: 'anvils' } },
  's3Credentials.create': { body: { permission: 'read', expires_in: 3600 } },
  's3Credentials.delete': made,

  'changes.trace': { params: { seq: 3 } },
  'changes.revert': { params: { seq: 3 } },
  'changes.revertAll': { body: { request_id: MADE } },

  'claims.create': { body: { filter: OPEN, limit: 1, lease_seconds: 60 } },
  'claims.get': made,
  'claims.heartbeat': { ...made, body: { lease_seconds: 60 } },
  'claims.release': made,
  'claims.complete': made,
  'claims.heartbeatAll': { body: { claim_ids: [MADE], lease_seconds: 60 } },
  'claims.releaseAll': { body: { claim_ids: [MADE] } },
  'claims.completeAll': { body: { claim_ids: [MADE] } },
  'records.wait': { query: { filter: JSON.stringify(OPEN), timeout: 5 } },

  'sql.query': {
    body: {
      query: 'SELECT stage, count(*) AS deals FROM deal WHERE amount > :least GROUP BY stage',
      params: { least: 100 },
    },
  },
  'sql.execute': {
    body: {
      statements: "UPDATE deal SET amount = amount * 1.1 WHERE stage = 'open' RETURNING id, amount",
    },
  },

  'providers.import': {
    body: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'contact',
            description: 'A person',
            parameters: { type: 'object', properties: { email: { type: 'string' } } },
          },
        },
      ],
    },
  },
  'providers.call': {
    body: {
      id: 'call_1',
      type: 'function',
      function: { name: 'deal', arguments: '{"title":"From a tool call"}' },
    },
  },

  'endpoints.upsert': {
    params: { id: 'sales' },
    body: {
      name: 'Sales',
      tools: [{ record_type: 'deal', operations: ['create', 'list'] }],
      instructions: 'Add deals as customers mention them.',
    },
  },
  'endpoints.get': { params: { id: 'sales' } },
  'endpoints.history': { params: { id: 'sales' } },
  'endpoints.resolved': { params: { id: 'sales' } },
  'endpoints.update': { params: { id: 'sales' }, body: { enabled: false } },
  'endpoints.delete': { params: { id: 'sales' } },
  'toolsets.upsert': {
    params: { id: 'deals' },
    body: { name: 'Deals', tools: [{ record_type: 'deal', operations: ['create'] }] },
  },
  'toolsets.get': { params: { id: 'deals' } },
  'toolsets.history': { params: { id: 'deals' } },
  'toolsets.update': { params: { id: 'deals' }, body: { name: 'Deals' } },
  'toolsets.delete': { params: { id: 'deals' } },

  'seeds.upsert': {
    params: { base_id: 'crm--dev', id: 'demo' },
    body: {
      name: 'Demo',
      records: [{ record_type: 'company', external_id: 'demo-1', data: { name: 'Demo Ltd' } }],
    },
  },
  'seeds.get': { params: { base_id: 'crm--dev', id: 'demo' } },
  'seeds.history': { params: { base_id: 'crm--dev', id: 'demo' } },
  'seeds.update': { params: { base_id: 'crm--dev', id: 'demo' }, body: { name: 'Demo' } },
  'seeds.delete': { params: { base_id: 'crm--dev', id: 'demo' } },
  'seeds.apply': { params: { base_id: 'crm--dev', name: 'demo' }, body: {} },
  'seeds.reset': { params: { base_id: 'crm--dev', name: 'demo' }, body: {} },
  'seeds.clear': { params: { base_id: 'crm--dev', name: 'demo' }, body: {} },

  'actions.upsert': {
    params: { id: 'win_deal' },
    body: {
      input_schema: { type: 'object', properties: { deal: { type: 'string' } }, required: ['deal'] },
      steps: [
        {
          name: 'deal',
          type: 'patch_record',
          record_type: 'deal',
          id: '{{input.deal}}',
          data: { stage: 'won' },
        },
        {
          name: 'company',
          type: 'create_record',
          record_type: 'company',
          data: { name: 'Buyer of {{steps.deal.id}}' },
        },
      ],
      output: { company: '{{steps.company.id}}' },
    },
  },
  'actions.get': { params: { id: 'win_deal' } },
  'actions.history': { params: { id: 'win_deal' } },
  'actions.update': { params: { id: 'win_deal' }, body: { description: 'Marks a deal as won.' } },
  'actions.delete': { params: { id: 'win_deal' } },
  'actions.run': { params: { id: 'win_deal' }, body: { input: { deal: 'd1' } } },
  'actionRuns.list': { params: { id: 'win_deal' } },
  'actionRuns.get': { params: { id: 'win_deal', run_id: MADE } },

  'triggers.upsert': {
    params: { id: 'won' },
    body: {
      record_types: ['deal'],
      events: ['update'],
      condition: { field: 'data.stage', op: 'eq', value: 'won' },
      url: 'https://hooks.example.com/won',
    },
  },
  'triggers.get': { params: { id: 'won' } },
  'triggers.history': { params: { id: 'won' } },
  'triggers.update': { params: { id: 'won' }, body: { enabled: false } },
  'triggers.delete': { params: { id: 'won' } },
  'triggers.test': { params: { id: 'won' }, body: {} },
  'triggers.rotateSecret': { params: { id: 'won' }, body: {} },
  'deliveries.replay': { body: { direction: 'out', status: 'dead', since: '2h' } },
  'triggerDeliveries.list': { params: { id: 'won' } },
  'triggerDeliveries.replay': { params: { id: 'won', delivery_id: MADE }, body: {} },

  'inboundWebhooks.upsert': {
    params: { id: 'shop' },
    body: {
      record_type: 'company',
      signature: { scheme: 'hmac', header: 'X-Signature' },
      mapping: { external_id: '$.customer.id', external_source: 'shop', data: { name: '$.customer.name' } },
    },
  },
  'inboundWebhooks.rotateSecret': { params: { id: 'shop' } },
  'inboundWebhooks.get': { params: { id: 'shop' } },
  'inboundWebhooks.history': { params: { id: 'shop' } },
  'inboundWebhooks.update': { params: { id: 'shop' }, body: { enabled: false } },
  'inboundWebhooks.delete': { params: { id: 'shop' } },
  'inboundDeliveries.list': { params: { id: 'shop' } },
  'inboundDeliveries.replay': { params: { id: 'shop', delivery_id: MADE }, body: {} },

  'secrets.upsert': {
    params: { name: 'CHAT_KEY' },
    body: { value: 'k-123', description: 'of the chat', bases: ['crm'] },
  },
  'secrets.get': { params: { name: 'CHAT_KEY' } },
  'secrets.delete': { params: { name: 'CHAT_KEY' } },

  'tokens.create': {
    body: {
      name: 'reporting',
      grants: [{ base: 'crm', record_type: '*', environment: '*', permission: 'read' }],
    },
  },
  'tokens.get': made,
  'tokens.delete': made,
}
