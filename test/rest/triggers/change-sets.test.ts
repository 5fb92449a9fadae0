// @module-tag full
/** Triggers that follow the steps of change-sets. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectDetail, succeed } from '../../support/answers.ts'
import { openReceiver, type Receiver } from '../../support/receiver.ts'
import { triggersOf } from '../../support/triggers.ts'
import { eventually } from '../../support/until.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let triggers: ReturnType<typeof triggersOf>
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1', PLINTH_WEBHOOK_SCHEDULE: '0.05' })
  triggers = triggersOf(world, receiver)
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

const call: World['call'] = (...args) => world.call(...args)
const SECRET_OF_DRAFT = 'only readers of the change-set see this'

test('each step of a change-set arrives once with its state and who took it, and nothing of its drafts', {
  tags: 'full',
}, async () => {
  const all = [
    ...['opened', 'submitted', 'commented', 'changes_requested', 'approved', 'discarded'],
    ...['merged', 'rejected', 'expired', 'reopened'],
  ].map((step) => `preview.${step}`)
  const followed = await triggers.newTrigger({ record_types: ['*'], events: all })
  const { recordType: type } = followed
  const others = await triggers.newTrigger({ record_types: ['*'] })
  const id = 'crm--steps'
  const at = `/v1/${id}/records/${type}`
  succeed(await call('PUT', `/v1/crm/records/${type}/a`, { data: { n: 1 } }), 201)
  succeed(await call('POST', '/v1/crm/preview', { name: 'steps', copy: 'on_write', title: 'June' }), 201)
  succeed(await call('PATCH', `${at}/a`, { data: { n: 2, text: SECRET_OF_DRAFT } }))
  succeed(await call('PUT', `${at}/b`, { data: { text: SECRET_OF_DRAFT } }), 201)
  succeed(await call('POST', `/v1/${id}/submit`, { comment: 'Signed.' }), 201)
  const review = async (body: object) => succeed(await call('POST', `/v1/${id}/reviews`, body), 201)
  await review({ verdict: 'comment', text: 'Hm.' })
  await review({ verdict: 'request_changes', text: 'Which?' })
  const resources = [{ kind: 'record', record_type: type, id: 'b' }]
  succeed(await call('POST', `/v1/${id}/discard`, { resources }))
  const { revision } = succeed(await call('GET', `/v1/bases/${id}`)).change_set
  await review({ verdict: 'approve', revision })
  await review({ verdict: 'reject' })
  succeed(await call('POST', `/v1/${id}/reopen`, {}))
  const promotion = succeed(await call('POST', '/v1/crm/promote', { from: id }))

  const received = (await followed.arrived(9)).map(({ body }) => body)
  const inOrder = received.sort((one, other) => one.data.change_seq - other.data.change_seq)
  expect(inOrder.map(({ type: event }) => event)).toEqual(
    [
      ...['opened', 'submitted', 'commented', 'changes_requested', 'discarded', 'approved'],
      ...['rejected', 'reopened', 'merged'],
    ].map((step) => `preview.${step}`),
  )
  const log = succeed(await call('GET', '/v1/crm/changes?kind=preview&id=crm--steps')).data
  expect(log.map(({ seq, at: time }: { seq: number; at: string }) => [seq, time])).toEqual(
    inOrder.map(({ data, timestamp }) => [data.change_seq, timestamp]),
  )
  expect(inOrder[1]).toEqual({
    type: 'preview.submitted',
    timestamp: log[1].at,
    data: {
      base_id: 'crm',
      preview: { id, status: 'submitted', title: 'June', revision: 2, text: 'Signed.' },
      actor: log[1].actor,
      change_seq: log[1].seq,
    },
  })
  expect(inOrder[3]?.data.preview).toMatchObject({ status: 'changes_requested', text: 'Which?' })
  expect(inOrder[8]?.data.preview).toMatchObject({ status: 'merged', promotion_id: promotion.id })
  expect(JSON.stringify(inOrder)).not.toContain(SECRET_OF_DRAFT)

  // Who follows records gets the record that was merged, and no step.
  const records = (await others.arrived(2)).map(({ body }) => [body.type, body.data.record.data.n])
  expect(records).toEqual([
    ['record.created', 1],
    ['record.updated', 2],
  ])
  const ended = await eventually(async () => {
    const found = await followed.deliveries()
    return found.every(({ status }) => status === 'succeeded') ? found : undefined
  })
  expect(ended).toHaveLength(9)
  expect(ended[0]).toMatchObject({ event: 'preview.merged', record_type: null, record_id: null })
  expect(receiver.at(others.path)).toHaveLength(2)
})

test('a step can run an action, which reads it as its input', async () => {
  const { recordType: type } = await triggers.newTrigger({ enabled: false })
  succeed(
    await call('PUT', '/v1/crm/actions/note_request', {
      steps: [
        {
          name: 'note',
          type: 'create_record',
          record_type: type,
          data: { from: '{{input.preview.id}}', by: '{{input.actor.name}}' },
        },
      ],
    }),
    201,
  )
  succeed(
    await call('PUT', '/v1/crm/triggers/requests', {
      events: ['preview.submitted'],
      action: 'note_request',
    }),
    201,
  )
  succeed(await call('POST', '/v1/crm/preview', { name: 'run', copy: 'on_write' }), 201)
  succeed(await call('PUT', `/v1/crm--run/records/${type}/x`, { data: {} }), 201)
  succeed(await call('POST', '/v1/crm--run/submit', {}), 201)
  const noted = await eventually(async () => {
    const { data } = succeed(await call('GET', `/v1/crm/records/${type}`))
    return data.length > 0 ? data : undefined
  })
  expect(noted.map(({ data }: { data: object }) => data)).toEqual([
    { from: 'crm--run', by: expect.any(String) },
  ])
})

test('a trigger that selects records follows no steps, and an unknown step is refused', async () => {
  const { recordType: type } = await triggers.newTrigger({ enabled: false })
  const put = (body: object) =>
    call('PUT', '/v1/crm/triggers/refused', { url: `${receiver.url}/refused`, ...body })
  const events = ['create', 'preview.merged']
  const condition = { field: 'data.n', op: 'eq', value: 1 }
  for (const body of [
    { events, record_types: [type] },
    { events, condition },
  ])
    expectDetail(await put(body), 400, { path: '/events/1', code: 'exclusive' })
  expectDetail(await put({ events: ['preview.made'] }), 400, { path: '/events/0' })
})
