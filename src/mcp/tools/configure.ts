/** The tool configure: changes triggers, inbound webhooks, actions and the like, and acts on them. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { trim, writtenBody } from '../../contract/response-bodies.ts'
import { invalid, withPaths } from '../../foundation/errors.ts'
import type { Context } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { DeletionParts, PlanParts } from '../../http/deletion-plan-fragment.ts'
import { deletedOr } from '../tool/approval.ts'
import { deleting, tool } from '../tool/tool.ts'
import { KINDS, shownDefinition } from './configuration.ts'

const put =
  staticOperation(`mutation ToolPutDefinition($base: String!, $kind: String!, $id: String!, $merge: JSON!, $expectedVersions: [Int!]) {
    done: putDefinition(base: $base, kind: $kind, id: $id, merge: $merge, expectedVersions: $expectedVersions) {
      id body version operation warnings dry_run: dryRun
    }
  }`)
const remove = staticOperation(
  `mutation ToolDeleteConfiguration($base: String!, $kind: String!, $id: String!, $expectedVersions: [Int!]) {
    done: deleteDefinition(base: $base, kind: $kind, id: $id, expectedVersions: $expectedVersions) {
      id deleted dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts }
    }
  }`,
  [DeletionParts, PlanParts],
)
const rotate = staticOperation(`mutation ToolRotateSecret($base: String!, $id: String!) {
  done: rotateTriggerSecret(base: $base, id: $id) { id secret version dry_run: dryRun }
}`)
const rotateInbound = staticOperation(`mutation ToolRotateInboundSecret($base: String!, $id: String!) {
  done: rotateInboundWebhookSecret(base: $base, id: $id) { id secret version dry_run: dryRun }
}`)
const test = staticOperation(`mutation ToolTestTrigger($base: String!, $id: String!) {
  done: testTrigger(base: $base, id: $id) { id event status attempts dry_run: dryRun }
}`)
const replaySent =
  staticOperation(`mutation ToolReplayDelivery($base: String!, $id: String!, $delivery: String!) {
  done: replayTriggerDelivery(base: $base, id: $id, delivery: $delivery) { id event status attempts dry_run: dryRun }
}`)
const replayTaken =
  staticOperation(`mutation ToolReplayIngested($base: String!, $id: String!, $delivery: String!) {
  done: replayInboundDelivery(base: $base, id: $id, delivery: $delivery) { id status attempts records error dry_run: dryRun }
}`)
const applySeed = staticOperation(`mutation ToolApplySeed($base: String!, $id: String!) {
  done: applySeed(base: $base, id: $id) { id records relationships dry_run: dryRun }
}`)
const resetSeed = staticOperation(`mutation ToolResetSeed($base: String!, $id: String!) {
  done: resetSeed(base: $base, id: $id) { id records relationships dry_run: dryRun }
}`)
const clearSeed = staticOperation(`mutation ToolClearSeed($base: String!, $id: String!) {
  done: clearSeed(base: $base, id: $id) { id records relationships dry_run: dryRun }
}`)

const ACTS = ['delete', 'rotate_secret', 'test', 'replay', 'apply', 'reset', 'clear'] as const
type Target = { base: string; id: string }
type Acts = Readonly<Record<string, (target: Target, context: Context, delivery: string) => Promise<object>>>

/** What can be done with a resource besides changing it, by kind. */
const OF_KIND: Readonly<Record<string, Acts>> = {
  trigger: {
    rotate_secret: async (target, context) => trim((await rotate(target, context)).done),
    test: async (target, context) => trim((await test(target, context)).done),
    replay: async (target, context, delivery) =>
      trim((await replaySent({ ...target, delivery }, context)).done),
  },
  inbound_webhook: {
    rotate_secret: async (target, context) => trim((await rotateInbound(target, context)).done),
    replay: async (target, context, delivery) =>
      trim((await replayTaken({ ...target, delivery }, context)).done),
  },
  seed: {
    apply: async (target, context) => trim((await applySeed(target, context)).done),
    reset: async (target, context) => trim((await resetSeed(target, context)).done),
    clear: async (target, context) => trim((await clearSeed(target, context)).done),
  },
}

export const configureTool = tool('configure', {
  title: 'Configure',
  description:
    'Create or change a trigger, inbound webhook, action, endpoint, toolset, seed or file type: fields are those of its REST body, and merge (null: default, lists are replaced). Or act on it; replay takes delivery_id.',
  permission: 'manage',
  ofWhole: 'manage',
  notInChangeSets: true,
  // A test and a replay send a delivery.
  hints: { destructive: true, openWorld: true },
  isUnlisted: true,
  input: z.strictObject({
    kind: z.enum(KINDS),
    id: z.string(),
    fields: z.record(z.string(), z.unknown()).optional(),
    act: z.enum(ACTS).optional(),
    delivery_id: z.string().optional(),
    expected_version: z.int32().min(1).optional(),
    ...deleting,
  }),
  run: async ({ base_id: base, kind, id, fields, act, delivery_id: delivery, expected_version }, context) => {
    const versions = expected_version === undefined ? {} : { expectedVersions: [expected_version] }
    if (act === undefined) {
      if (delivery !== undefined) throw notWith('/delivery_id', 'delivery_id is of act: "replay".')
      if (fields === undefined) throw nothing()
      const { done } = await put({ base, kind, id, merge: fields, ...versions }, context).catch(ofFields)
      return unlike(fields, writtenBody(shownDefinition(done)))
    }
    if (fields !== undefined) throw notWith('/fields', 'Send fields or act, one of them.')
    if (act === 'delete' && delivery !== undefined) throw ofReplay(act)
    if (act === 'delete') return deletedOr((await remove({ base, kind, id, ...versions }, context)).done)
    if (expected_version !== undefined)
      throw notWith('/expected_version', `${act} does not compare versions. Leave expected_version out.`)
    const run = OF_KIND[kind]?.[act]
    if (!run) throw notOfKind(kind, act)
    if ((act === 'replay') !== (delivery !== undefined)) throw ofReplay(act)
    return run({ base, id }, context, delivery ?? '')
  },
})

/** Names what the definition has wrong at its place among the arguments. */
const ofFields = (thrown: unknown): never => {
  throw withPaths(thrown, (path) => (OF_CALL.test(path) ? path : `/fields${path}`))
}
const OF_CALL = /^(\/(base_id|kind|id|expected_version|idempotency_key))?$/

/** What is stored otherwise than it was sent: defaults, and what the server made, such as a secret. */
const unlike = (sent: Readonly<Record<string, unknown>>, written: object): object =>
  Object.fromEntries(
    Object.entries(written).filter(([name, value]) => name === 'id' || !isDeepStrictEqual(value, sent[name])),
  )

const notWith = (path: string, message: string) => invalid({ path, code: 'exclusive', message })

const nothing = () =>
  invalid({
    path: '/fields',
    code: 'required',
    message: 'Send fields, what to create or change, or act.',
  })

const notOfKind = (kind: string, act: string) =>
  invalid({
    path: '/act',
    code: 'enum',
    message: `act "${act}" is not possible for the kind ${kind}.`,
    received: act,
    allowed: ['delete', ...Object.keys(OF_KIND[kind] ?? {})],
  })

const ofReplay = (act: string) =>
  act === 'replay'
    ? invalid({
        path: '/delivery_id',
        code: 'required',
        message: 'Send the id of the delivery to replay. configuration with log: true lists deliveries.',
      })
    : notWith('/delivery_id', 'delivery_id is of act: "replay".')
