/** The log of changes as the tools read it: changes, or what each request did. */
import { z } from 'zod'
import { moment } from '../../contract/time-input.ts'
import { staticOperation } from '../../graphql/execute.ts'

export const listChanges =
  staticOperation(`query ToolChanges($base: String!, $after: Float, $before: Float, $order: LogOrder, $recordType: String, $id: String,
    $kind: String, $operation: String, $actor: String, $actorKind: String, $requestId: String, $since: DateTime, $until: DateTime,
    $limit: Int, $showsBefore: Boolean, $withTitles: Boolean!, $withFields: Boolean!, $isGrouped: Boolean!) {
    changes(base: $base, after: $after, before: $before, order: $order, recordType: $recordType, id: $id, kind: $kind,
      operation: $operation, actor: $actor, actorKind: $actorKind, requestId: $requestId, since: $since, until: $until, limit: $limit,
      showsBefore: $showsBefore) @skip(if: $isGrouped) {
      data {
        seq at actor { token_id: tokenId name kind via } request_id: requestId
        call { id tool endpoint client trace_id: traceId }
        kind record_type: recordType id operation version diff cause proposed { token_id: tokenId name kind request_id: requestId call { id tool endpoint client trace_id: traceId } } title @include(if: $withTitles)
      }
      hasMore limit nextAfter nextBefore hint
    }
    changeGroups(base: $base, after: $after, before: $before, recordType: $recordType, id: $id, kind: $kind,
      operation: $operation, actor: $actor, actorKind: $actorKind, requestId: $requestId, since: $since, until: $until, limit: $limit,
      withFields: $withFields) @include(if: $isGrouped) {
      data {
        request_id: requestId call { id tool endpoint client trace_id: traceId }
        actor { token_id: tokenId name kind via } first_at: firstAt last_at: lastAt last_seq: lastSeq count
        id @include(if: $withTitles) title @include(if: $withTitles) by { kind record_type: recordType operation count }
        fields @include(if: $withFields) { row } undone undone_by: undoneBy proposed { token_id: tokenId name kind count }
      }
      hasMore limit nextBefore hint
    }
  }`)

export type Page = NonNullable<Awaited<ReturnType<typeof listChanges>>['changes']>
export type Groups = NonNullable<Awaited<ReturnType<typeof listChanges>>['changeGroups']>

export const seq = z.int().min(0)
/** What names changes, of a list and of an undo. */
export const selection = {
  request_id: z.string().optional(),
  actor: z.string().optional(),
  since: moment,
  until: moment,
  record_type: z.string().optional(),
}

/** What a request did, as a line. */
export const lineOf = ({
  request_id,
  actor,
  call,
  last_at,
  count,
  by,
  undone,
  undone_by,
}: Groups['data'][number]) => ({
  request_id,
  actor: actor.name,
  ...(call?.tool ? { tool: call.tool } : { via: actor.via }),
  at: last_at,
  count,
  what: by
    .map(({ operation, count, record_type, kind }) => `${operation} ${count} ${record_type ?? kind}`)
    .join(', '),
  ...(undone > 0 && { undone: undone_by ? true : undone }),
})
