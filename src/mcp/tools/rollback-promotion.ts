/** The tool rollback_promotion: undoes a promotion. */
import { z } from 'zod'
import { RollbackBody } from '../../contract/config-shapes.ts'
import { productionOf } from '../../contract/ids.ts'
import { omitUndefined } from '../../foundation/omit-undefined.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { tool, writing } from '../tool/tool.ts'
import { promotedBody } from './environments.ts'

const rollback =
  staticOperation(`mutation ToolRollback($base: String!, $promotionId: String!, $resources: JSON, $migration: JSON) {
    done: rollbackPromotion(base: $base, promotionId: $promotionId, resources: $resources, migration: $migration) {
      id kind from base_id: baseId status changes conflicts records_rewritten: recordsRewritten warnings secrets created_at: createdAt dry_run: dryRun
    }
  }`)

export const rollbackPromotionTool = tool('rollback_promotion', {
  title: 'Roll back a promotion',
  description:
    'Undo a promotion, or only resources of it: its exact inverse, in production. changes with kind promotion has its id. Of configuration, no record is deleted; what a change-set created goes.',
  permission: 'write',
  ofWhole: 'read',
  hints: { destructive: true },
  isUnlisted: true,
  plans: 'promotion',
  decidesAt: productionOf,
  input: z.strictObject({
    promotion_id: z.string(),
    resources: RollbackBody.shape.resources,
    migration: RollbackBody.shape.migration,
    ...writing,
  }),
  run: async ({ base_id, promotion_id: promotionId, resources, migration }, context) => {
    const args = { base: productionOf(base_id), promotionId, ...omitUndefined({ resources, migration }) }
    return promotedBody((await rollback(args, context)).done)
  },
})
