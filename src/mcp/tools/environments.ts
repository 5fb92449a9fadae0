/** The tools preview and promote: changing the configuration of a live base by way of a copy. */

import { z } from 'zod'
import type { PlannedChange, Step } from '../../contract/change-lines.ts'
import { LISTED_STATES, type ListedState } from '../../contract/change-set-shapes.ts'
import { PromoteBody } from '../../contract/config-shapes.ts'
import { anyPreviewOf, productionOf } from '../../contract/ids.ts'
import { awaiting } from '../../contract/plan-messages.ts'
import { pageBody, trim, writtenBody } from '../../contract/response-bodies.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { DeletionParts, PlanParts } from '../../http/deletion-plan-fragment.ts'
import { deletedOr } from '../tool/approval.ts'
import { refuseOthers } from '../tool/refuse-others.ts'
import { deleting, tool } from '../tool/tool.ts'
import { changesForView, forView } from '../views/views.ts'

const ToolPreview = graphql(`fragment ToolPreview on Base {
  id description production_base: productionBase version created_at: createdAt
}`)
const create = staticOperation(
  `mutation ToolCreatePreview($base: String!, $input: PreviewInput!) {
    done: createPreview(base: $base, input: $input) { ...ToolPreview dry_run: dryRun }
  }`,
  [ToolPreview],
)
const list = staticOperation(
  `query ToolListPreviews($base: String!, $state: ListedState, $limit: Int) {
    page: previews(base: $base, state: $state, limit: $limit) { data { ...ToolPreview } hasMore limit offset }
  }`,
  [ToolPreview],
)
const remove = staticOperation(
  `mutation ToolDeletePreview($id: String!) {
    done: deleteBase(id: $id) { id deleted dry_run: dryRun deletion { ...DeletionParts } plan { ...PlanParts } }
  }`,
  [DeletionParts, PlanParts],
)
const promote =
  staticOperation(`mutation ToolPromote($base: String!, $from: String!, $prune: Boolean, $resources: JSON, $force: Boolean, $migration: JSON, $resolve: JSON) {
    done: promote(base: $base, from: $from, prune: $prune, resources: $resources, force: $force, migration: $migration, resolve: $resolve) {
      id kind from base_id: baseId status changes conflicts kept records_rewritten: recordsRewritten warnings secrets created_at: createdAt dry_run: dryRun
      plan { what token expiresAt }
    }
  }`)

const ACTIONS = ['create', 'list', 'delete'] as const

const withAddress = <P extends { id: string }>(preview: P) => ({ ...preview, mcp: `/mcp/${preview.id}` })

type PreviewArgs = {
  base: string
  name: string | undefined
  description?: string | undefined
  copy?: string | undefined
  state?: ListedState | undefined
}
const RUN = {
  create: async ({ base, name, description, copy }: PreviewArgs, context: Context) => {
    const { done } = await create({ base, input: omitUndefined({ name, description, copy }) }, context)
    return trim(withAddress(done))
  },
  list: async ({ base, state }: PreviewArgs, context: Context) => {
    const { page } = await list(omitUndefined({ base, state, limit: LIMITS.previewsListed }), context)
    return pageBody({ ...page, data: page.data.map(withAddress) })
  },
  delete: async ({ base, name }: PreviewArgs, context: Context) =>
    deletedOr((await remove({ id: `${anyPreviewOf(base)}${name ?? ''}` }, context)).done),
}

/** What a proposal and a promotion take. */
export const chosen = {
  from: z.string().optional().meta({ description: 'The preview; by default that of the address.' }),
  prune: z.boolean().optional().meta({ description: 'Also delete what the preview deleted.' }),
  resources: PromoteBody.shape.resources.meta({ description: 'Only these.' }),
  migration: PromoteBody.shape.migration,
  resolve: PromoteBody.shape.resolve,
}

export const previewTool = tool('preview', {
  title: 'Previews',
  description:
    'Previews of the base: copies of its types, at an MCP address of their own, to try changes in. create answers the address. copy on_write: a change-set, which shows its records too, and keeps your changes of them until a person promotes it.',
  permission: 'write',
  hints: { destructive: true },
  isUnlisted: true,
  decidesAt: (base) => anyPreviewOf(productionOf(base)),
  input: z.strictObject({
    action: z.enum(ACTIONS),
    name: z.string().optional(),
    description: z.string().optional(),
    copy: z.enum(['config', 'config_and_sample', 'on_write']).optional(),
    state: z.enum(LISTED_STATES).optional().meta({ description: 'list: only change-sets in it.' }),
    ...deleting,
  }),
  run: async ({ base_id, action, name, description, copy, state }, context) => {
    const others = {
      create: { state },
      list: { name, description, copy },
      delete: { description, copy, state },
    }
    refuseOthers(others[action], `It does nothing for the action "${action}".`)
    if (name === undefined && action !== 'list' && copy !== 'on_write') throw nameless(action)
    const base = productionOf(base_id)
    return RUN[action](
      { base, name: name === undefined ? name : nameIn(base, name), description, copy, state },
      context,
    )
  },
})

export const promoteTool = tool('promote', {
  title: 'Promote a preview',
  description: 'Apply the changes of a preview to production. The first call returns a plan to confirm.',
  permission: 'write',
  hints: { destructive: true },
  isUnlisted: true,
  plans: 'promotion',
  decidesAt: productionOf,
  input: z.strictObject({
    ...chosen,
    force: z.boolean().optional(),
    ...deleting,
  }),
  run: async ({ base_id, from, prune, resources, force, migration, resolve }, context, _, { hasViews }) => {
    const selected = omitUndefined({ prune, resources, force, migration, resolve })
    const args = { ...placesOf(base_id, from), ...selected }
    const { plan, ...done } = (await promote(args, context)).done
    if (!plan) return promotedBody(done)
    const { conflicts } = done as Promoted
    const answer = {
      plan: {
        what: plan.what,
        ...shortened(done),
        ...metaOf(done as Promoted),
        ...(conflicts.length > 0 && { conflicts }),
      },
      ...awaiting('promotion', plan),
    }
    return hasViews ? forView(answer, { changes: changesForView((done as Promoted).changes) }) : answer
  },
})

/** What a promotion or rollback has done. */
export function promotedBody(done: object): object {
  const promoted = done as Promoted
  const note = promoted.secrets && !promoted.dry_run ? { note: KEEP_SECRETS } : {}
  return writtenBody({ ...promoted, ...shortened(done), ...note })
}

function shortened(done: object): object {
  const { changes, kept } = done as Promoted
  return {
    changes: changes.slice(0, LIMITS.promotionChangesShown).map(named),
    ...(changes.length > LIMITS.promotionChangesShown && {
      changes_more: changes.length - LIMITS.promotionChangesShown,
    }),
    ...(kept && { kept: kept.slice(0, LIMITS.promotionChangesShown) }),
  }
}

type Promoted = Pick<Proposal, 'changes' | 'kept' | 'records_rewritten' | 'warnings'> & {
  conflicts: readonly object[]
  secrets: unknown
  dry_run: boolean | null
}
type Conflict = { kind: string; id: string; production: readonly Step[]; preview: readonly Step[] }
type Break = { path: string; message: string }
export type Proposal = {
  from: string
  base_id: string
  changes: readonly PlannedChange[]
  summary: object
  conflicts: readonly Conflict[]
  breaks: readonly Break[]
  revision: number | null
  kept: readonly { kind: string; id: string }[] | null
  records_rewritten: Readonly<Record<string, number>> | null
  warnings: string[] | null
}

const KEEP_SECRETS =
  'secrets are only in this answer. Store each where the other system signs or verifies with it.'

/** What a write of configuration says beside its result. */
export const metaOf = (said: Pick<Proposal, 'records_rewritten' | 'warnings'>): object =>
  writtenBody({ warnings: said.warnings, records_rewritten: said.records_rewritten })

export const named = ({ diff: _, ...change }: PlannedChange) => change

/** The production base of the address, and the preview: the named one, or that of the address. */
export function placesOf(base: string, from = base): { base: string; from: string } {
  const production = productionOf(base)
  if (from !== production) return { base: production, from }
  throw invalid({
    path: '/from',
    code: 'required',
    message: `Name the preview, such as "${production}--dev". preview with the action "list" lists them.`,
  })
}

/** The name of a preview; its whole id is taken too. */
const nameIn = (base: string, name: string): string =>
  name.startsWith(anyPreviewOf(base)) ? name.slice(anyPreviewOf(base).length) : name

const nameless = (action: string) =>
  invalid({
    path: '/name',
    code: 'required',
    message: `name says which preview to ${action}: the part of its id after "--".`,
  })
