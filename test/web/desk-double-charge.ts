/** The history of T-1004: eight versions by five authors, two refunds to approve, two files. */
import { type Cast, patch, RECORDS, replyTool, triageTool } from './desk-cast.ts'
import { attachFiles } from './desk-files.ts'
import { BASE } from './desk-schema.ts'
import { COPPERFIELD, customerId, DOUBLE_CHARGE } from './desk-tickets.ts'

const ANSWER =
  'Hello! We found the second charge and our billing team is looking at it. You will hear from us when the refund is approved.'
const SUMMARY =
  'Customer was charged 149 € twice on 12 October. The second charge has no order. Refund proposed; a person has to approve it.'

/** Returns the id of the message to the customer. */
export async function handleDoubleCharge(cast: Cast): Promise<string> {
  const update = (data: object) =>
    triageTool(cast)('update_record', { record_type: 'ticket', id: DOUBLE_CHARGE, data })
  const mara = cast.send('Mara Lindqvist')
  await update({ due: '2026-12-20' })
  await patch(mara, DOUBLE_CHARGE, { stage: 'waiting', refund: 149 })
  await correctImport(cast)
  await patch(cast.send('Jonas Weber'), DOUBLE_CHARGE, { tags: ['billing'], priority: 'high' })
  const tool = replyTool(cast)
  const message = await tool('create_message', { direction: 'out', body: ANSWER, from: 'Support' })
  await tool('update_ticket', { id: DOUBLE_CHARGE, stage: 'waiting', refund: 298, summary: SUMMARY })
  await proposeRefunds(cast)
  await patch(mara, DOUBLE_CHARGE, { owner: 'mara' })
  await update({ due: '2026-11-27', priority: 'urgent' })
  await attachFiles(cast, `${RECORDS}/ticket/${DOUBLE_CHARGE}/attachments`)
  return message.id
}

async function correctImport(cast: Cast): Promise<void> {
  const importer = cast.send('importer')
  await patch(importer, DOUBLE_CHARGE, {
    ...{ subject: 'Refund for the double charge in October', customer_name: COPPERFIELD, owner: 'ada' },
    ...{ stage: 'new', tags: ['billing', 'login'] },
  })
  const link = {
    ...{ type: 'upsert_relationship', rel_type: 'from_customer', replace: true },
    ...{ source_record_type: 'ticket', source_id: DOUBLE_CHARGE },
    ...{ target_record_type: 'customer', target_id: customerId(COPPERFIELD) },
  }
  await importer('POST', `/v1/${BASE}/batch`, { operations: [link] })
}

const REFUNDS = [
  {
    title: 'Refund of 1,290 €',
    amount: 1290,
    reason: 'Annual plan bought twice after the card was declined',
  },
  { title: 'Refund of 298 €', amount: 298, reason: 'Double charge in October, two payments of 149 €' },
]

async function proposeRefunds(cast: Cast): Promise<void> {
  const tool = replyTool(cast)
  for (const refund of REFUNDS) {
    const { id } = await tool('create_refund_request', { ...refund, currency: 'EUR', state: 'proposed' })
    await tool('link_for_ticket', { source_id: id, target_id: DOUBLE_CHARGE })
    await cast.send('billing-sync')('POST', `${RECORDS}/approval`, {
      data: { title: refund.title, approver: 'mara', decision: 'waiting' },
      relationships: [{ rel_type: 'about_refund', record_type: 'refund_request', id }],
    })
  }
}
