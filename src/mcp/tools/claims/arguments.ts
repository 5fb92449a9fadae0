import { z } from 'zod'
import { invalid } from '../../../foundation/errors.ts'
import { reading, writing } from '../../tool/tool.ts'

const ACTIONS = ['claim', 'heartbeat', 'release', 'complete', 'wait'] as const
type Action = (typeof ACTIONS)[number]

export const input = z.strictObject({
  action: z.enum(ACTIONS),
  record_type: z.string().optional(),
  filter: z.record(z.string(), z.unknown()).optional(),
  sort: z.string().optional(),
  // The engine checks bounds. Publishing them would cost tokens in every tool list.
  limit: z.int32().optional(),
  lease_seconds: z.int32().optional(),
  max_attempts: z.int32().optional(),
  timeout: z.int32().optional(),
  claim_id: z.string().optional(),
  ...writing,
  ...reading,
})
export type Args = z.output<typeof input>

const ASKS = ['record_type', 'filter', 'sort', 'limit'] as const
const WRITES = ['idempotency_key', 'dry_run'] as const
/** Arguments of each action, the required one first. */
const ARGUMENTS: Record<Action, readonly (keyof Args)[]> = {
  claim: [...ASKS, 'lease_seconds', 'max_attempts', 'max_tokens', ...WRITES],
  wait: [...ASKS, 'timeout', 'max_tokens'],
  heartbeat: ['claim_id', 'lease_seconds', ...WRITES],
  release: ['claim_id', ...WRITES],
  complete: ['claim_id', ...WRITES],
}

/**
 * Checks that the arguments fit the action.
 * @returns the claim id, for actions on one claim
 * @throws VALIDATION_ERROR
 */
export function checkArguments(args: Args): string {
  const accepted = ARGUMENTS[args.action]
  const [needed] = accepted
  if (needed !== undefined && args[needed] === undefined)
    throw invalid({ path: `/${needed}`, code: 'required', message: `${args.action} needs ${needed}.` })
  const extra = Object.keys(args).find((name) => name !== 'action' && !accepted.includes(name as keyof Args))
  if (extra === undefined) return args.claim_id ?? ''
  throw invalid({
    path: `/${extra}`,
    code: 'unknown_key',
    message: `${args.action} takes no ${extra}.`,
    allowed: accepted,
  })
}
