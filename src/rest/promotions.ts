/** REST routes of promotions. */
import { z } from 'zod'
import {
  CONFIG_KINDS,
  DiscardBody,
  PromoteBody,
  ProposalBody,
  RollbackBody,
} from '../contract/config-shapes.ts'
import { pageBody, trim, writtenBody } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { BREAKS_CLIENTS, ChangeOfConfig, Kept, NewSecrets, SummaryOfChanges } from './config.ts'
import { listOf } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId, onBase, time } from './route/shapes.ts'

const diff = z.array(z.record(z.string(), z.unknown())).meta({ description: 'RFC 6902, from the fork.' })
const Conflict = z.object({
  kind: z.enum([...CONFIG_KINDS, 'record', 'relationship']),
  id: z.string(),
  code: z
    .enum(['same_field', 'update_delete', 'delete_update', 'create_create'])
    .optional()
    .meta({ description: 'Of a change-set.' }),
  path: z.string().optional().meta({ description: 'Of a change-set: the field.' }),
  message: z.string().optional(),
  production: diff,
  preview: diff,
})
const meta = z
  .object({
    warnings: z.array(z.string()).optional().meta({ description: BREAKS_CLIENTS }),
    records_rewritten: z
      .record(z.string(), z.int())
      .optional()
      .meta({ description: 'How many records the migrations rewrite, by record type.' }),
  })
  .optional()
export const Proposal = z
  .object({
    from: z.string().meta({ description: 'The preview.' }),
    base_id: z.string().meta({ description: 'The production base.' }),
    changes: z.array(ChangeOfConfig),
    summary: SummaryOfChanges,
    conflicts: z
      .array(Conflict)
      .meta({ description: 'Resources that production has changed too. They need `force`.' }),
    breaks: z.array(z.record(z.string(), z.unknown())).meta({
      description: 'What production holds or lacks that the changes do not fit: details of an error.',
    }),
    revision: z.int().optional().meta({ description: 'Of a change-set. Send it with the promotion.' }),
    hash: z
      .string()
      .optional()
      .meta({ description: 'Of a preview of configuration. Send it with the promotion.' }),
    kept: Kept,
    meta,
  })
  .meta({ id: 'Proposal' })
export const Promotion = z
  .object({
    id: z.string().nullable().meta({ description: 'Null where nothing was to be promoted.' }),
    kind: z.enum(['promotion', 'rollback']),
    from: z.string().meta({ description: 'The preview.' }),
    base_id: z.string().meta({ description: 'The production base.' }),
    status: z.enum(['applied', 'rolled_back']),
    changes: z.array(ChangeOfConfig),
    conflicts: z
      .array(Conflict)
      .meta({ description: 'Resources that production had changed too, where `force` took the preview.' }),
    created_by: z.string().nullable().meta({ description: 'The id of the token.' }),
    created_by_name: z.string().nullable().meta({ description: 'The name that the token had.' }),
    created_at: time,
    kept: Kept,
    secrets: NewSecrets,
    meta,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Promotion' })

const Discarded = z
  .object({
    from: z.string().meta({ description: 'The change-set.' }),
    revision: z.int(),
    changes: z.array(ChangeOfConfig),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'DiscardedChanges' })

/** A change-set has a revision, a preview of configuration a hash. */
export const ofPreview = <P extends { revision: number | null; hash: string | null }>({
  revision,
  hash,
  ...proposal
}: P) => ({ ...proposal, ...(revision !== null && { revision }), ...(hash !== null && { hash }) })

export const PromotionFields = graphql(`fragment PromotionFields on Promotion {
  id kind from base_id: baseId status changes conflicts created_by: createdBy created_by_name: createdByName created_at: createdAt
}`)

const params = z.strictObject({ base_id: baseId() })
/** A change-set is promoted with `write` on what it changes. Configuration needs `admin`. */
const needsWrite = ({ base_id = '' }) => ({ permission: 'write', anyOf: base_id }) as const

export const promotions = tagged('Environments', [
  route('POST /:base_id/promote', {
    summary: 'Apply the changes of a preview to its production base, in one transaction',
    need: needsWrite,
    params,
    body: PromoteBody,
    operation: graphql(
      `mutation Promote($base: String!, $from: String!, $prune: Boolean, $resources: JSON, $force: Boolean, $migration: JSON, $resolve: JSON, $revision: Int, $hash: String, $dryRun: Boolean) {
        done: promote(base: $base, from: $from, prune: $prune, resources: $resources, force: $force, migration: $migration, resolve: $resolve, revision: $revision, hash: $hash, dryRun: $dryRun) {
          ...PromotionFields kept records_rewritten: recordsRewritten warnings secrets dry_run: dryRun
        }
      }`,
      [PromotionFields],
    ),
    reply: ({ done }) => ({ body: writtenBody(done), isLarge: true }),
    answers: Promotion,
  }),
  route('POST /:base_id/promote/proposal', {
    summary: 'Show what a promotion would change, and what prevents it',
    need: ({ base_id = '' }) => ({ permission: 'read', anyOf: base_id }),
    params,
    body: ProposalBody,
    operation: graphql(
      `query Propose($base: String!, $from: String, $prune: Boolean, $resources: JSON, $migration: JSON, $resolve: JSON) {
        proposal(base: $base, from: $from, prune: $prune, resources: $resources, migration: $migration, resolve: $resolve) {
          from base_id: baseId changes summary conflicts breaks revision hash kept records_rewritten: recordsRewritten warnings
        }
      }`,
    ),
    reply: ({ proposal }) => ({ body: writtenBody(ofPreview(proposal)), isLarge: true }),
    answers: Proposal,
  }),
  route('POST /:base_id/discard', {
    summary: 'Take changes out of a change-set',
    need: ({ base_id = '' }) => ({ permission: 'write', anyOf: base_id }),
    params,
    body: DiscardBody,
    operation: graphql(
      `mutation DiscardChanges($base: String!, $resources: JSON!, $dryRun: Boolean) {
        done: discardChanges(base: $base, resources: $resources, dryRun: $dryRun) { from revision changes dry_run: dryRun }
      }`,
    ),
    reply: ({ done }) => ({ body: trim(done), isLarge: true }),
    answers: Discarded,
  }),
  route('POST /:base_id/promote/rollback', {
    summary: 'Undo a promotion or a part of it, as a new entry of the history',
    need: needsWrite,
    params,
    body: RollbackBody,
    operation: graphql(
      `mutation RollbackPromotion($base: String!, $promotionId: String!, $resources: JSON, $migration: JSON, $dryRun: Boolean) {
        done: rollbackPromotion(base: $base, promotionId: $promotionId, resources: $resources, migration: $migration, dryRun: $dryRun) {
          ...PromotionFields kept records_rewritten: recordsRewritten warnings secrets dry_run: dryRun
        }
      }`,
      [PromotionFields],
    ),
    reply: ({ done }) => ({ body: writtenBody(done), isLarge: true }),
    answers: Promotion,
  }),
  route('GET /:base_id/promotions', {
    summary: 'List the promotions and rollbacks of a base, newest first',
    need: onBase('read'),
    params,
    query: pageQuery,
    operation: graphql(
      `query ListPromotions($base: String!, $limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: promotions(base: $base, limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...PromotionFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [PromotionFields],
    ),
    reply: ({ page }) => ({ body: pageBody(page), isLarge: true }),
    answers: listOf(Promotion),
  }),
  route('GET /:base_id/promotions/:id', {
    summary: 'Get a promotion or rollback',
    need: onBase('read'),
    params: params.extend({ id: z.string().meta({ description: 'A promotion id.' }) }),
    operation: graphql(
      `query GetPromotion($base: String!, $id: String!) { promotion(base: $base, id: $id) { ...PromotionFields } }`,
      [PromotionFields],
    ),
    reply: ({ promotion }) => ({ body: promotion, isLarge: true }),
    answers: Promotion,
  }),
])
