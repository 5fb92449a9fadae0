/** REST route that reverts a change. */
import { z } from 'zod'
import { trim } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { Change, ChangeFields } from './changes.ts'
import { flag } from './route/query.ts'
import { route } from './route/route.ts'
import { baseId } from './route/shapes.ts'

const Reverting = Change.extend({ dry_run: z.literal(true).optional() }).meta({ id: 'Reverting' })

export const revert = [
  route('POST /:base_id/changes/:seq/revert', {
    tag: 'History',
    summary:
      'Revert a change of a record, a relationship or configuration: restore the state before the change',
    need: ({ base_id = '' }) => ({ baseAccess: base_id }),
    params: z.strictObject({
      base_id: baseId(),
      seq: z
        .string()
        .regex(/^[1-9]\d{0,14}$/, 'It must be the seq of a change: a whole number from 1.')
        .transform(Number)
        .meta({ description: 'The seq of the change.', schema: { type: 'integer', minimum: 1 } }),
    }),
    query: z.strictObject({
      force: flag('Also if later changes followed: they are reverted too.'),
      on_invalid: z.enum(['allow']).optional().meta({
        description: '`allow`: keep data that violates the restored schema, flagged `valid: false`.',
      }),
      confirm: z.string().optional().meta({
        description: 'The id of a type. Required to revert its creation if it is not empty.',
      }),
    }),
    operation: graphql(
      `mutation RevertChange($base: String!, $seq: Float!, $force: Boolean, $allowInvalid: Boolean, $confirm: String) {
        revertChange(base: $base, seq: $seq, force: $force, allowInvalid: $allowInvalid, confirm: $confirm) {
          ...ChangeFields dry_run: dryRun
        }
      }`,
      [ChangeFields],
    ),
    variables: ({ params, query }) => ({
      base: params.base_id,
      seq: params.seq,
      force: query.force,
      allowInvalid: query.on_invalid === 'allow',
      confirm: query.confirm,
    }),
    reply: ({ revertChange }) => ({ body: trim(revertChange) }),
    answers: Reverting,
  }),
]
