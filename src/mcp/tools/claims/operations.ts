/** GraphQL operations of the claims tool. */

import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { claimedBody, claimOutcomesBody, rowsBody, trim } from '../../../contract/response-bodies.ts'
import { invalid, withPaths } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { omitUndefined } from '../../../foundation/omit-undefined.ts'
import type { Context } from '../../../graphql/context.ts'
import { staticOperation } from '../../../graphql/execute.ts'
import { type Body, ReadResult, type Row, recordUriIn } from '../../budget/read-result.ts'
import { reading, writing } from '../../tool/tool.ts'
import { ToolClaim } from '../records/operations.ts'

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
  max_attempts: z.int32().optional().meta({ listed: false }),
  patch: z.record(z.string(), z.unknown()).optional(),
  timeout: z.int32().optional(),
  condition: z.record(z.string(), z.unknown()).optional(),
  after: z.number().optional(),
  claim_id: z.string().optional(),
  claim_ids: z.array(z.string()).optional(),
  force: z.boolean().optional(),
  // Accepted, and not published: they matter little here, and lists of tools cost tokens.
  dry_run: writing.dry_run.meta({ listed: false }),
  max_tokens: reading.max_tokens.meta({ listed: false }),
  idempotency_key: writing.idempotency_key,
})
type Args = z.output<typeof input>

const ASKS = ['record_type', 'filter', 'sort', 'limit'] as const
const WRITES = ['idempotency_key', 'dry_run'] as const
/** Arguments of each action, the required one first. */
const ARGUMENTS: Record<Action, readonly (keyof Args)[]> = {
  claim: [...ASKS, 'lease_seconds', 'max_attempts', 'patch', 'timeout', 'max_tokens', ...WRITES],
  wait: [...ASKS, 'timeout', 'max_tokens'],
  heartbeat: ['claim_id', 'claim_ids', 'lease_seconds', ...WRITES],
  release: ['claim_id', 'claim_ids', 'force', ...WRITES],
  complete: ['claim_id', 'claim_ids', ...WRITES],
}

/** Those of a wait for a change. */
const OF_CHANGE = ['condition', 'record_type', 'after', 'timeout', 'max_tokens'] as const

const exclusive = (argument: string, message: string) =>
  invalid({ path: `/${argument}`, code: 'exclusive', message })

/**
 * Checks that the arguments fit the action.
 * @returns the claim id, for actions on one claim
 * @throws VALIDATION_ERROR
 */
function checkArguments(args: Args): string {
  const isForChange = args.action === 'wait' && (args.condition ?? args.after) !== undefined
  const accepted: readonly (keyof Args)[] = isForChange ? OF_CHANGE : ARGUMENTS[args.action]
  const [needed] = accepted
  const isList = needed === 'claim_id' && args.claim_ids !== undefined
  if (isList && args.claim_id !== undefined)
    throw exclusive('claim_ids', 'Send claim_id or claim_ids, not both.')
  if (isList && args.force) throw exclusive('force', 'force is for one claim. Send it with claim_id.')
  if (needed !== undefined && args[needed] === undefined && !isList)
    throw invalid({ path: `/${needed}`, code: 'required', message: `${args.action} needs ${needed}.` })
  const extra = Object.keys(args).find((name) => name !== 'action' && !accepted.includes(name as keyof Args))
  if (extra === undefined) return args.claim_id ?? ''
  throw invalid({
    path: `/${extra}`,
    code: 'unknown_key',
    message: `${args.action} takes no ${extra}.${extra === 'patch' ? ' Change the record with update_record first.' : ''}`,
    allowed: accepted,
  })
}

const claim =
  staticOperation(`mutation ToolClaimRecords($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $limit: Int, $leaseSeconds: Int, $maxAttempts: Int, $patch: JSON) {
    claimRecords(base: $base, recordType: $recordType, filter: $filter, sort: $sort, limit: $limit,
      leaseSeconds: $leaseSeconds, maxAttempts: $maxAttempts, patch: $patch) {
      data {
        record {
          id record_type: recordType data created_at: createdAt updated_at: updatedAt external_id: externalId
          external_source: externalSource version status cancelled_at: cancelledAt valid
        }
        claim { id expires_at: expiresAt attempts }
      }
      limit truncated hint dry_run: dryRun
    }
  }`)
const wait =
  staticOperation(`query ToolWait($base: String!, $recordType: String!, $filter: JSON, $sort: JSON, $limit: Int, $timeout: Int) {
    waitForRecords(base: $base, recordType: $recordType, filter: $filter, sort: $sort, limit: $limit, timeout: $timeout) {
      rows hasMore limit offset total hint
    }
  }`)
const waitForChange =
  staticOperation(`query ToolWaitForChange($base: String!, $recordType: String, $condition: JSON!, $after: Float, $timeout: Int) {
    waitForChange(base: $base, recordType: $recordType, condition: $condition, after: $after, timeout: $timeout) {
      change {
        seq at actor { token_id: tokenId name kind via } request_id: requestId
        kind record_type: recordType id operation version diff cause
      }
      nextAfter
    }
  }`)
const heartbeat = staticOperation(
  `mutation ToolHeartbeat($base: String!, $id: String!, $leaseSeconds: Int) {
    heartbeatClaim(base: $base, id: $id, leaseSeconds: $leaseSeconds) { ...ToolClaim }
  }`,
  [ToolClaim],
)
const release = staticOperation(
  `mutation ToolRelease($base: String!, $id: String!, $force: Boolean) {
    releaseClaim(base: $base, id: $id, force: $force) { ...ToolClaim }
  }`,
  [ToolClaim],
)
const complete = staticOperation(
  `mutation ToolComplete($base: String!, $id: String!) { completeClaim(base: $base, id: $id) { ...ToolClaim } }`,
  [ToolClaim],
)

const actOnAll = staticOperation(
  `mutation ToolActOnClaims($base: String!, $action: ClaimAction!, $ids: [String!]!, $leaseSeconds: Int) {
    actOnClaims(base: $base, action: $action, ids: $ids, leaseSeconds: $leaseSeconds) {
      data { id claim { ...ToolClaim } code message } dry_run: dryRun
    }
  }`,
  [ToolClaim],
)

/** Acts on a list of claims. Each is answered by itself, with its error if it was refused. */
async function actOnList(
  action: 'heartbeat' | 'release' | 'complete',
  asked: { base: string; ids: string[]; leaseSeconds?: number },
  context: Context,
): Promise<object> {
  return claimOutcomesBody((await actOnAll({ ...asked, action }, context)).actOnClaims)
}

/**
 * Runs the action of the claims tool.
 * @throws DomainError with paths relative to the arguments
 */
export async function act(
  { base_id: base, ...args }: Args & { base_id: string },
  context: Context,
): Promise<object> {
  const { action, filter, sort, limit, lease_seconds, force } = args
  const id = checkArguments(args)
  const lease = omitUndefined({ leaseSeconds: lease_seconds })
  const question = { base, recordType: args.record_type ?? '', ...omitUndefined({ filter, sort, limit }) }
  const claimed = { base, id }
  if (args.claim_ids && action !== 'claim' && action !== 'wait')
    return actOnList(action, { base, ids: args.claim_ids, ...lease }, context)
  const recordUri = recordUriIn(base)
  switch (action) {
    case 'claim': {
      const { max_attempts: maxAttempts, patch } = args
      const bound = omitUndefined({ maxAttempts, patch })
      const claimRecords = await claimInTime({ ...question, ...lease, ...bound }, args, context)
      const uriOf = ({ record }: Row) => recordUri(record as Row)
      return new ReadResult(claimedBody(claimRecords), { uriOf, cuttable: dataOfClaimed })
    }
    case 'wait': {
      const { condition, record_type: recordType, after, timeout } = args
      if (condition) {
        const asked = { base, condition, ...omitUndefined({ recordType, after, timeout }) }
        const { change, nextAfter } = (await waitForChange(asked, context)).waitForChange
        const body = { data: change ? [change] : [], meta: { next_after: nextAfter } }
        return new ReadResult(body, { onward: 'changes returns it.' })
      }
      const { waitForRecords } = await wait({ ...question, ...omitUndefined({ timeout }) }, context)
      return new ReadResult(rowsBody(waitForRecords), {
        uriOf: recordUri,
        onward: 'query_records returns them.',
      })
    }
    case 'heartbeat':
      return trim((await named(heartbeat({ ...claimed, ...lease }, context))).heartbeatClaim)
    case 'release':
      return trim((await named(release({ ...claimed, force: force ?? false }, context))).releaseClaim)
    case 'complete':
      return trim((await named(complete(claimed, context))).completeClaim)
  }
}

type Claiming = Parameters<typeof claim>[0]

/** Claims records; with `timeout`, as soon as one is free, or none after so many seconds. */
async function claimInTime(asked: Claiming, { timeout, idempotency_key }: Args, context: Context) {
  if (timeout !== undefined && idempotency_key !== undefined)
    throw exclusive(
      'idempotency_key',
      'A claim that waits is made of several requests. Send timeout or idempotency_key, not both.',
    )
  const ends = Date.now() + (timeout ?? 0) * 1000
  for (let left = timeout; ; left = Math.ceil((ends - Date.now()) / 1000)) {
    const { claimRecords } = await claim(asked, context)
    if (claimRecords.data.length > 0 || left === undefined || left <= 0) return claimRecords
    const { base, recordType, filter } = asked
    const { waitForRecords } = await wait(
      { base, recordType, ...(filter !== undefined && { filter }), limit: 1, timeout: left },
      context,
    )
    // At the timeout, and when the server stops.
    if ((waitForRecords.rows as readonly unknown[]).length === 0) return claimRecords
    // What matches may be in other hands, so it is tried again, but not at once.
    await pause(Math.min(LIMITS.claimRetryMs, Math.max(0, ends - Date.now())))
  }
}

/** Claimed records are all returned, because the caller holds them. Only their data is truncated. */
const dataOfClaimed = ({ data }: Body) =>
  (data as { record: Row }[]).map(({ record }, index) => ({
    value: record['data'],
    path: `/data/${index}/record/data`,
    put: (value: unknown) => {
      record['data'] = value
    },
  }))

/** Reports errors about `/id` at the argument `claim_id`. */
const named = <T>(acting: Promise<T>): Promise<T> =>
  acting.catch((thrown: unknown) => {
    throw withPaths(thrown, (path) => (path === '/id' ? '/claim_id' : path))
  })
