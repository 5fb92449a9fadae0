import { z } from 'zod'
import { answerOutput } from '../../tool/page-arguments.ts'
import { type Tool, tool } from '../../tool/tool.ts'
import { act } from './act.ts'
import { input } from './arguments.ts'

const whole = tool('work', {
  title: 'Work',
  description: 'Claim free records; heartbeat, release or complete a claim_id; wait for a match.',
  permission: 'write',
  permissionOf: ({ action }) => (action === 'wait' ? 'read' : 'write'),
  hints: { destructive: true },
  showsRecords: true,
  input,
  output: answerOutput,
  run: act,
})

/** The part that reads. It says so, and names nothing that those who may only read would be refused. */
const waiting = tool('work', {
  title: 'Work',
  description: 'Wait for a record that matches.',
  permission: 'read',
  hints: { idempotent: true },
  showsRecords: true,
  input: z.strictObject({
    action: z.enum(['wait']),
    record_type: z.string(),
    ...input.pick({ filter: true, sort: true, limit: true, timeout: true, max_tokens: true }).shape,
  }),
  output: answerOutput,
  run: act,
})

/** A tool that is another one to those who may only read. */
export type TwoSided = Tool & { readonly reads?: Tool }

// Called is the whole: another action is above the token's rights, and not an unknown one.
export const workTools: readonly TwoSided[] = [{ ...whole, reads: { ...waiting, call: whole.call } }]
