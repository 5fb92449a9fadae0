/** The tool `work`: claims on records, and waiting for them. */
import { z } from 'zod'
import { leanWork } from '../../budget/lean.ts'
import { type TwoSided, tool } from '../../tool/tool.ts'
import { act, input } from './operations.ts'

const whole = tool('work', {
  title: 'Work',
  description:
    'Claim free records (patch writes data); heartbeat, release, complete: records unchanged; wait for a filter or change (condition, previous.data.x).',
  permission: 'write',
  notInChangeSets: true,
  permissionOf: ({ action }) => (action === 'wait' ? 'read' : 'write'),
  hints: { destructive: true },
  showsRecords: true,
  input,
  lean: leanWork,
  run: act,
})

/**
 * The read-only variant of the tool, for tokens without write access: it documents only the `wait` action.
 */
const waiting = tool('work', {
  title: 'Work',
  description: 'Wait for a record (filter) or a change (condition, previous.data.x) that matches.',
  permission: 'read',
  notInChangeSets: true,
  showsRecords: true,
  input: z.strictObject({
    action: z.enum(['wait']),
    ...input.pick({
      record_type: true,
      filter: true,
      sort: true,
      limit: true,
      timeout: true,
      condition: true,
      after: true,
      max_tokens: true,
    }).shape,
  }),
  run: act,
})

// Calls always run the full tool, so that other actions fail with FORBIDDEN and not as unknown.
export const workTools: readonly TwoSided[] = [{ ...whole, reads: { ...waiting, call: whole.call } }]
