/** The log of runs of an action as MCP resources: one run, and the list. */
import { pageBody } from '../../contract/response-bodies.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { type RunName, type RunsQuery, runsUri } from '../protocol/resource-uri.ts'
import { queryOf } from './uri-query.ts'

const Fields = graphql(`fragment ResourceRun on ActionRun {
  id status action_version: actionVersion input output steps error duration_ms: durationMs actor
  request_id: requestId cause created_at: createdAt
}`)
const find = staticOperation(
  `query ResourceRun($base: String!, $action: String!, $id: String!) {
    actionRun(base: $base, action: $action, id: $id) { ...ResourceRun }
  }`,
  [Fields],
)
const list = staticOperation(
  `query ResourceRuns($base: String!, $action: String!, $status: String, $cursor: String, $limit: Int) {
    actionRuns(base: $base, action: $action, status: $status, cursor: $cursor, limit: $limit) {
      data { ...ResourceRun } hasMore truncated limit offset nextCursor
    }
  }`,
  [Fields],
)

type One = Extract<RunName, { kind: 'run' }>
type Many = Extract<RunName, { kind: 'runs' }>

/** Reads a run. */
export const readRunResource = async (name: One, context: Context): Promise<object> =>
  (await find(name, context)).actionRun

const PARAMETERS = ['status', 'cursor']

/** Reads a page of the runs of an action, newest first. `meta.next` is the URI of the next page. */
export async function readRunsResource(name: Many, context: Context): Promise<object> {
  const { base, action } = name
  const query: RunsQuery = queryOf(name.query, 'A list of runs', PARAMETERS)
  const { actionRuns } = await list({ base, action, ...query, limit: LIMITS.resourceRecords }, context)
  const body = pageBody(actionRuns)
  if (actionRuns.nextCursor === null) return body
  const next = runsUri(base, action, { ...query, cursor: actionRuns.nextCursor })
  return { ...body, meta: { ...body.meta, next } }
}
