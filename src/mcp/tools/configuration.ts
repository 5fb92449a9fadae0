/** The tool configuration: reads triggers, inbound webhooks, actions and the like, and their logs. */
import { z } from 'zod'
import { INBOUND_STATUSES } from '../../contract/inbound-webhook-shapes.ts'
import { pageBody } from '../../contract/response-bodies.ts'
import { DELIVERY_STATUSES } from '../../contract/trigger-shapes.ts'
import { invalid } from '../../foundation/errors.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { BY_CURSOR, ReadResult } from '../budget/read-result.ts'
import { PAGE, pageOutput } from '../tool/page-arguments.ts'
import { refuseOthers } from '../tool/refuse-others.ts'
import { reading, tool } from '../tool/tool.ts'

/** The kinds that have no tools of their own. */
export const KINDS = [
  'trigger',
  'inbound_webhook',
  'action',
  'endpoint',
  'toolset',
  'seed',
  'file_type',
] as const

const ToolDefinition = graphql(`fragment ToolDefinition on Definition {
  id body version created_at: createdAt updated_at: updatedAt
}`)
const list = staticOperation(
  `query ToolListDefinitions($base: String!, $kind: String!, $limit: Int, $cursor: String) {
    page: definitions(base: $base, kind: $kind, limit: $limit, cursor: $cursor) {
      data { ...ToolDefinition } hasMore limit offset nextCursor cursors
    }
  }`,
  [ToolDefinition],
)
const get = staticOperation(
  `query ToolGetDefinition($base: String!, $kind: String!, $id: String!) {
    found: definition(base: $base, kind: $kind, id: $id) { ...ToolDefinition }
  }`,
  [ToolDefinition],
)
const deliveries =
  staticOperation(`query ToolListDeliveries($base: String!, $id: String!, $status: String, $limit: Int, $cursor: String) {
    page: triggerDeliveries(base: $base, trigger: $id, status: $status, limit: $limit, cursor: $cursor) {
      data {
        id event record_type: recordType record_id: recordId change_seq: changeSeq status attempts
        next_attempt_at: nextAttemptAt last_attempt_at: lastAttemptAt response error created_at: createdAt
      } hasMore limit offset nextCursor cursors
    }
  }`)
const ingested =
  staticOperation(`query ToolListIngested($base: String!, $id: String!, $status: String, $limit: Int, $cursor: String) {
    page: inboundDeliveries(base: $base, webhook: $id, status: $status, limit: $limit, cursor: $cursor) {
      data {
        id delivery_id: deliveryId status attempts records error body last_attempt_at: lastAttemptAt created_at: createdAt
      } hasMore limit offset nextCursor cursors
    }
  }`)
const runs =
  staticOperation(`query ToolListRuns($base: String!, $id: String!, $status: String, $limit: Int, $cursor: String) {
    page: actionRuns(base: $base, action: $id, status: $status, limit: $limit, cursor: $cursor) {
      data {
        id status input output steps error duration_ms: durationMs actor cause created_at: createdAt
      } hasMore limit offset nextCursor cursors
    }
  }`)

type Listing = { base: string; limit: number; cursor?: string }
type LogListing = Listing & { id: string; status?: string }

type LogPage = Parameters<typeof pageBody>[0] & Pick<Awaited<ReturnType<typeof runs>>['page'], 'cursors'>
type Log = (args: LogListing, context: Context) => Promise<{ page: LogPage }>

const LOGS: Readonly<Record<string, Log>> = { trigger: deliveries, inbound_webhook: ingested, action: runs }

/** A definition in the form of REST. */
export const shownDefinition = <D extends { id: string; body: unknown }>({ id, body, ...more }: D) => ({
  id,
  ...(body as object),
  ...more,
})

export const configurationTool = tool('configuration', {
  title: 'Configuration',
  description:
    'Triggers, inbound webhooks, actions, endpoints, toolsets, seeds, file types: a list, or one by id. log: its deliveries or runs.',
  permission: 'read',
  ofWhole: 'read',
  notInChangeSets: true,
  isUnlisted: true,
  showsRecords: true,
  input: z.strictObject({
    kind: z.enum(KINDS),
    id: z.string().optional(),
    log: z.boolean().optional(),
    status: z.enum([...new Set([...DELIVERY_STATUSES, ...INBOUND_STATUSES])]).optional(),
    limit: z.int32().optional(),
    cursor: z.string().optional(),
    ...reading,
  }),
  output: pageOutput,
  run: async ({ base_id: base, kind, id, log, status, limit, cursor }, context) => {
    const listing = { base, limit: limit ?? PAGE, ...(cursor !== undefined && { cursor }) }
    if (!log) refuseOthers({ status }, 'Without log: true there is no log to select from.')
    if (!log && id !== undefined) refuseOthers({ limit, cursor }, 'An id shows one resource, not a list.')
    if (log) {
      const { page } = await logOf(kind)({ ...listing, id: idOfLog(id), ...(status && { status }) }, context)
      return new ReadResult(pageBody(page), { ...BY_CURSOR, cursors: page.cursors })
    }
    if (id !== undefined)
      return new ReadResult(shownDefinition((await get({ base, kind, id }, context)).found))
    const { page } = await list({ ...listing, kind }, context)
    return new ReadResult(pageBody({ ...page, data: page.data.map(shownDefinition) }), {
      ...BY_CURSOR,
      cursors: page.cursors,
    })
  },
})

function logOf(kind: string): Log {
  const log = LOGS[kind]
  if (log) return log
  throw invalid({
    path: '/kind',
    code: 'enum',
    message: 'This kind has no log. Leave log out.',
    received: kind,
    allowed: Object.keys(LOGS),
  })
}

function idOfLog(id: string | undefined): string {
  if (id !== undefined) return id
  throw invalid({ path: '/id', code: 'required', message: 'Send the id of the resource whose log you want.' })
}
