/** The tool review: what somebody says about a change-set. */
import { z } from 'zod'
import { VerdictBody } from '../../contract/change-set-shapes.ts'
import { anyPreviewOf, productionOf } from '../../contract/ids.ts'
import { trim } from '../../contract/response-bodies.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import type { Context } from '../../graphql/context.ts'
import { graphql } from '../../graphql/document.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { tool, writing } from '../tool/tool.ts'
import { chosen, placesOf } from './environments.ts'

const ToolReview = graphql(`fragment ToolReview on ChangeSetReview {
  verdict revision is_stale: isStale resources text by { name kind } at
}`)
const lifeOf = staticOperation(
  `query ToolLifeOfChangeSet($from: String!, $limit: Int) {
    base(id: $from) { changeSet { status approvals } }
    page: changeSetReviews(base: $from, limit: $limit) { data { ...ToolReview } }
  }`,
  [ToolReview],
)
const review = staticOperation(
  `mutation ToolReviewPreview($base: String!, $verdict: ChangeSetVerdict!, $revision: Int, $resources: JSON, $text: String) {
    done: reviewPreview(base: $base, verdict: $verdict, revision: $revision, resources: $resources, text: $text) {
      ...ToolReview dry_run: dryRun
    }
  }`,
  [ToolReview],
)

export type Approvals = { needed: number; given: number }

/** Where a change-set stands, and what was said about it last. Approvals, where some are needed or given. */
export async function lifeIn(from: string, context: Context) {
  const { base, page } = await lifeOf({ from, limit: LIMITS.reviewsShown }, context)
  const { status, approvals } = base?.changeSet ?? {}
  const said = approvals as Approvals | undefined
  return {
    ...(status && { status }),
    ...(said && said.needed + said.given > 0 && { approvals: said }),
    reviews: page.data.map(trim),
  }
}

const { dry_run: _, ...verdict } = VerdictBody.shape

export const reviewTool = tool('review', {
  title: 'Review a change-set',
  description:
    'Say something about a change-set, or about some of its records or fields. approve counts for the revision that propose showed; request_changes sends it back, reject closes it.',
  permission: 'write',
  isUnlisted: true,
  decidesAt: (base) => anyPreviewOf(productionOf(base)),
  input: z.strictObject({ from: chosen.from, ...verdict, ...writing }),
  run: async ({ base_id, from, verdict, revision, resources, text }, context) => {
    const said = { verdict, ...omitUndefined({ revision, resources, text }) }
    return trim((await review({ base: placesOf(base_id, from).from, ...said }, context)).done)
  },
})
