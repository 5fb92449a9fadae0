import { succeed } from './answers.ts'
import type { TestServer } from './server.ts'

const text = { type: 'string' }
const date = { type: 'string', format: 'date' }
const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required })

/** Five record types of a usual size, for measurements of what a model reads. */
export const CRM_TYPES: Readonly<Record<string, object>> = {
  company: object(
    {
      name: text,
      domain: text,
      industry: { type: 'string', enum: ['software', 'retail', 'energy', 'health', 'other'] },
      employees: { type: 'integer', minimum: 0 },
      address: object({ street: text, city: text, country: text }),
      tags: { type: 'array', items: text },
    },
    ['name'],
  ),
  contact: object(
    {
      name: text,
      email: { type: 'string', format: 'email' },
      phone: text,
      role: text,
      birthday: date,
      newsletter: { type: 'boolean' },
    },
    ['name', 'email'],
  ),
  deal: object(
    {
      title: text,
      stage: { type: 'string', enum: ['lead', 'qualified', 'proposal', 'won', 'lost'] },
      amount: { type: 'number', minimum: 0 },
      currency: { type: 'string', enum: ['EUR', 'USD', 'CHF'] },
      expected_close: date,
      probability: { type: 'integer', minimum: 0, maximum: 100 },
      notes: text,
    },
    ['title', 'stage'],
  ),
  ticket: object(
    {
      subject: text,
      body: text,
      status: { type: 'string', enum: ['open', 'pending', 'solved', 'closed'] },
      priority: { type: 'string', enum: ['low', 'normal', 'high', 'urgent'] },
      due: { type: 'string', format: 'date-time' },
      channel: { type: 'string', enum: ['mail', 'phone', 'chat'] },
    },
    ['subject', 'status'],
  ),
  task: object(
    {
      title: text,
      done: { type: 'boolean' },
      due: date,
      assignee: text,
      checklist: { type: 'array', items: object({ text, done: { type: 'boolean' } }, ['text']) },
    },
    ['title'],
  ),
}

const RELATIONSHIP_TYPES = {
  works_at: ['contact', 'company', 'many_to_one'],
  deal_company: ['deal', 'company', 'many_to_one'],
  requested_by: ['ticket', 'contact', 'many_to_one'],
  about: ['task', '*', 'many_to_many'],
} as const

const SCHEMAS = Object.values(CRM_TYPES)

/** Creates a base with `count` record types: those of the CRM, and from the sixth on the same under numbers. */
export async function createCrm(server: TestServer, base: string, count = SCHEMAS.length): Promise<void> {
  succeed(await server.call('PUT', `/v1/bases/${base}`, {}), 201)
  const names = Object.keys(CRM_TYPES)
  const types = Array.from({ length: count }, (_, i) => ({
    type: 'upsert_record_type',
    id: i < names.length ? names[i] : `${names[i % names.length]}_${i}`,
    body: { json_schema: SCHEMAS[i % SCHEMAS.length] },
  }))
  const links = Object.entries(RELATIONSHIP_TYPES).map(([id, [source, target, cardinality]]) => ({
    type: 'upsert_relationship_type',
    id,
    body: { source_record_types: [source], target_record_types: [target], cardinality },
  }))
  const operations = count < names.length ? types : [...types, ...links]
  succeed(await server.call('POST', `/v1/${base}/batch`, { operations }), 200)
}
