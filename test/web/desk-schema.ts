/** The configuration of the support desk: types, links, files, the endpoint of `reply-agent`, and automation. */
export const BASE = 'desk'
export const MAIL_SECRET = 'a-secret-that-the-mail-server-knows'
export type Triggers = Record<'survey' | 'vip' | 'slack', object>

const text = (maxLength: number) => ({ type: 'string', maxLength })
const oneOf = (...values: string[]) => ({ type: 'string', enum: values })
const money = { type: 'number', minimum: 0 }

const recordType = (
  name: string,
  title: string,
  properties: object,
  required: string[],
  more: object = {},
) => ({
  name,
  display: { title },
  json_schema: { type: 'object', properties, required, additionalProperties: false },
  ...more,
})

export const RECORD_TYPES = {
  ticket: recordType(
    'Ticket',
    'subject',
    {
      subject: text(200),
      stage: oneOf('new', 'open', 'waiting', 'solved'),
      priority: oneOf('low', 'normal', 'high', 'urgent'),
      owner: { ...text(60), description: 'Who answers it; absent while nobody does.' },
      customer_name: text(120),
      channel: oneOf('mail', 'chat', 'phone', 'form'),
      due: { type: 'string', format: 'date' },
      refund: money,
      tags: { type: 'array', items: text(40) },
      summary: text(2000),
    },
    ['subject', 'stage', 'priority'],
    { indexes: [{ fields: ['data.stage'] }, { fields: ['data.owner'] }] },
  ),
  customer: recordType('Customer', 'name', { name: text(120), plan: oneOf('free', 'team', 'business') }, [
    'name',
  ]),
  message: recordType(
    'Message',
    'body',
    { direction: oneOf('in', 'out'), body: text(10_000), from: text(120) },
    ['direction', 'body'],
  ),
  refund_request: recordType(
    'Refund request',
    'title',
    {
      title: text(120),
      amount: money,
      currency: oneOf('EUR'),
      reason: text(500),
      state: oneOf('proposed', 'approved', 'declined'),
    },
    ['title', 'amount', 'reason', 'state'],
  ),
  approval: recordType(
    'Approval',
    'title',
    { title: text(120), approver: text(60), decision: oneOf('waiting', 'yes', 'no') },
    ['title', 'approver', 'decision'],
  ),
  article: recordType('Article', 'title', { title: text(200), body: text(20_000) }, ['title']),
}

const relationshipType = (name: string, source: string, target: string, cardinality: string) => ({
  name,
  cardinality,
  source_record_types: [source],
  target_record_types: [target],
})

export const RELATIONSHIP_TYPES = {
  from_customer: relationshipType('From customer', 'ticket', 'customer', 'many_to_one'),
  in_ticket: relationshipType('In ticket', 'message', 'ticket', 'many_to_one'),
  for_ticket: relationshipType('For ticket', 'refund_request', 'ticket', 'many_to_one'),
  about_refund: relationshipType('About refund', 'approval', 'refund_request', 'many_to_one'),
}

export const FILE_TYPES = { doc: { name: 'Documents', description: 'Policies and invoices.' } }

export const REPLY_ENDPOINT = {
  name: 'Reply',
  description: 'Answers customers. Proposes refunds, which a person approves.',
  instructions: 'Answer politely. Never promise a date. A refund is a proposal until a person approves it.',
  tools: [
    {
      record_type: 'ticket',
      operations: ['get', 'list', 'update', 'claim'],
      fields: [
        ...['data.subject', 'data.stage', 'data.priority', 'data.customer_name', 'data.refund'],
        ...['data.tags', 'data.summary'],
      ],
    },
    { record_type: 'message', operations: ['create', 'list'] },
    { record_type: 'refund_request', operations: ['create'] },
  ],
  relationships: [
    { rel_type: 'in_ticket', operations: ['link'] },
    { rel_type: 'for_ticket', operations: ['link'] },
  ],
  undo: true,
}

const becomes = (field: string, value: string) => ({
  and: [
    { field: `data.${field}`, op: 'eq', value },
    { field: `previous.data.${field}`, op: 'neq', value },
  ],
})

/** The webhooks of the desk, whose receiver is at this address. */
export const triggersTo = (receiver: string): Triggers => ({
  survey: {
    name: 'Survey when solved',
    record_types: ['ticket'],
    events: ['update'],
    condition: becomes('stage', 'solved'),
    url: `${receiver}/survey`,
  },
  vip: {
    name: 'VIP channel',
    record_types: ['ticket'],
    events: ['update'],
    condition: { field: 'data.customer_name', op: 'eq', value: 'Copperfield Bank' },
    url: `${receiver}/vip`,
    max_attempts: 1,
  },
  slack: {
    name: 'Urgent to Slack',
    record_types: ['ticket'],
    events: ['update'],
    condition: becomes('priority', 'urgent'),
    url: `${receiver}/slack`,
    max_attempts: 1,
  },
})

export const MAIL_IN = {
  name: 'Mail in',
  record_type: 'message',
  signature: { scheme: 'token', header: 'X-Mail-Token' },
  secret: MAIL_SECRET,
  mapping: {
    external_id: '$.id',
    external_source: 'mail',
    data: { body: '$.body', from: '$.from', direction: { path: '$.direction', default: 'in' } },
  },
}
