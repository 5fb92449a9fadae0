/** What happened at the desk, in its order. */
import type { Body } from '../support/caller.ts'
import { toolCaller } from './desk-calls.ts'
import { type Cast, CLAUDE, patch, RECORDS, REPLY_PATH, replyTool, triageTool } from './desk-cast.ts'
import { handleDoubleCharge } from './desk-double-charge.ts'
import { addFiles } from './desk-files.ts'
import { BASE, MAIL_IN, MAIL_SECRET } from './desk-schema.ts'
import { CUSTOMERS, customerId, DOUBLE_CHARGE, type Tickets } from './desk-tickets.ts'

/** A message and its ticket. */
type Link = { source_id: string; target_id: string }

const CLOSED = 'Closed: no answer from the customer for thirty days.'

export async function tellStory(cast: Cast, tickets: Tickets): Promise<void> {
  const { admin, triggers } = cast
  await importAll(cast, tickets)
  const links = await answerCustomers(cast, tickets)
  await admin('PUT', `/v1/${BASE}/triggers/survey`, triggers.survey)
  await closeMany(cast, tickets)
  await deleteMistake(cast, tickets)
  await admin('PUT', `/v1/${BASE}/triggers/vip`, triggers.vip)
  await admin('PUT', `/v1/${BASE}/triggers/slack`, triggers.slack)
  await markCopperfield(cast, tickets)
  await findUrgent(cast, tickets)
  links.push({ source_id: await handleDoubleCharge(cast), target_id: DOUBLE_CHARGE })
  await addFiles(cast)
  links.push(...(await receiveMail(cast, tickets)))
  for (const link of links) await replyTool(cast)('link_in_ticket', link)
  await proposeSurvey(cast)
  await claim(cast, tickets)
}

async function importAll(cast: Cast, { all }: Tickets): Promise<void> {
  const importer = cast.send('importer')
  const customers = CUSTOMERS.map((name, index) => ({
    ...{ type: 'create_record', record_type: 'customer', id: customerId(name) },
    data: { name, plan: ['team', 'business', 'free'][index % 3] },
  }))
  await importer('POST', `/v1/${BASE}/batch`, { operations: customers })
  for (let from = 0; from < all.length; from += 100) {
    const operations = all.slice(from, from + 100).map(({ id, data }) => ({
      ...{ type: 'create_record', record_type: 'ticket', id, data },
      relationships: [
        { rel_type: 'from_customer', record_type: 'customer', id: customerId(data.customer_name) },
      ],
    }))
    await importer('POST', `/v1/${BASE}/batch`, { operations })
  }
}

const ANSWERS = [
  'Thank you for the screenshots. The redirect loop is caused by a stale Okta certificate; please upload the new one.',
  'The export has a limit of 10,000 rows. With the filter “this year” it fits; we are raising the limit.',
  'Line 212 has a semicolon in the name. Put the name in quotes, and the import goes through.',
  'The VAT number on invoice 2026-1183 was that of your former company. A corrected invoice is attached.',
]

/** Ten answers, of twelve tickets that wait for their customer then, and three calls that are refused. */
async function answerCustomers(cast: Cast, { answered }: Tickets): Promise<Link[]> {
  const tool = replyTool(cast)
  const links: Link[] = []
  for (const [index, { id }] of answered.entries()) {
    if (index < 10) {
      const body = ANSWERS[index % ANSWERS.length]
      const message = await tool('create_message', { direction: 'out', body, from: 'Support' })
      links.push({ source_id: message.id, target_id: id })
    }
    await tool('update_ticket', { id, stage: 'waiting' })
  }
  const refused = toolCaller(cast.call('reply-agent'), REPLY_PATH, CLAUDE)
  for (const { id } of answered.slice(0, 3)) {
    const { isError } = await refused('update_ticket', { id, stage: 'closed' })
    if (!isError) throw new Error('A ticket took a stage that it does not have')
  }
  return links
}

/** `triage-agent` closes 86 tickets; Jonas opens three of them again. */
async function closeMany(cast: Cast, { closed }: Tickets): Promise<void> {
  const operations = closed.map(({ id, data }) => ({
    ...{ type: 'patch_record', record_type: 'ticket', id },
    data: { summary: CLOSED, ...(data.owner && { owner: null }), stage: 'solved' },
  }))
  await triageTool(cast)('batch', { operations })
  for (const { id } of closed.slice(0, 3))
    await patch(cast.send('Jonas Weber'), id, { owner: 'ada', stage: 'open' })
}

const deleteMistake = (cast: Cast, { mistaken }: Tickets) =>
  cast.send('importer')('DELETE', `${RECORDS}/ticket/${mistaken.id}`)

async function markCopperfield(cast: Cast, { copperfield }: Tickets): Promise<void> {
  const operations = copperfield.map(({ id, data }) => ({
    ...{ type: 'patch_record', record_type: 'ticket', id },
    data: { tags: [...data.tags, 'vip'] },
  }))
  await cast.send('importer')('POST', `/v1/${BASE}/batch`, { operations })
}

async function findUrgent(cast: Cast, { urgent }: Tickets): Promise<void> {
  const tool = triageTool(cast)
  for (const { id } of urgent)
    await tool('update_record', { record_type: 'ticket', id, data: { priority: 'urgent' } })
}

/** Two mails arrive; the body of a third is no text. */
async function receiveMail(cast: Cast, { answered }: Tickets): Promise<Link[]> {
  const { ingest_url } = await cast.admin('PUT', `/v1/${BASE}/inbound-webhooks/mail_in`, MAIL_IN)
  const path = new URL(ingest_url, 'http://localhost').pathname
  const post = (id: string, body: unknown) =>
    cast.call('importer')(
      'POST',
      path,
      { id, from: 'ana@copperfield.example', body },
      { 'x-mail-token': MAIL_SECRET },
    )
  const links: Link[] = []
  for (const [index, body] of ['Thanks, that worked!', 'Is there any news?'].entries()) {
    const { body: taken }: Body = await post(`mail-${index}`, body)
    links.push({ source_id: taken.data[0].id, target_id: answered[10 + index]?.id ?? '' })
  }
  const { status, text } = await post('mail-2', { html: '<p>Hello</p>' })
  if (status !== 400) throw new Error(`A mail without a text was taken: ${text}`)
  return links
}

/** `schema-agent` takes the lowest priority away in a preview, adds a type, and asks for both. */
async function proposeSurvey(cast: Cast): Promise<void> {
  const agent = cast.send('schema-agent')
  const { id } = await agent('POST', `/v1/${BASE}/preview`, { name: 'csat' })
  const properties = {
    csat_comment: { type: 'string', maxLength: 2000 },
    priority: { type: 'string', enum: ['normal', 'high', 'urgent'] },
  }
  await agent('PATCH', `/v1/${id}/record-types/ticket`, { json_schema: { properties } })
  await agent('PUT', `/v1/${id}/record-types/survey`, {
    name: 'Survey',
    json_schema: {
      type: 'object',
      properties: { score: { type: 'integer', minimum: 1, maximum: 5 }, comment: { type: 'string' } },
      required: ['score'],
    },
  })
  await agent('POST', `/v1/${BASE}/review-requests`, {
    ...{ from: id, title: 'Satisfaction of customers', note: 'The survey starts on Monday.' },
  })
}

/** Jonas works on T-1004, agents on three more. */
async function claim(cast: Cast, { answered, urgent }: Tickets): Promise<void> {
  const only = (id = '') => ({ filter: { field: 'id', op: 'eq', value: id } })
  const take = (author: 'Jonas Weber' | 'triage-agent', id: string | undefined, lease_seconds: number) =>
    cast.send(author)('POST', `${RECORDS}/ticket/claim`, { ...only(id), lease_seconds })
  const taken = [
    await take('Jonas Weber', DOUBLE_CHARGE, 3600),
    await take('triage-agent', urgent[0]?.id, 2400),
    await take('triage-agent', urgent[1]?.id, 2400),
    await replyTool(cast)('claim_ticket', { ...only(answered[0]?.id), lease_seconds: 2400 }),
  ]
  if (taken.some(({ data }) => data.length !== 1)) throw new Error(JSON.stringify(taken))
}
