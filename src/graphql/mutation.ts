import type { InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core'
import { isIdempotencyKey } from '../contract/ids.ts'
import type { DeletionPlan } from '../engine/write/deletion-plan.ts'
import { type WriteScope, write } from '../engine/write/write.ts'
import { invalid } from '../foundation/errors.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never
type Args<F extends InputFieldMap> = InputShapeFromFields<F>
type MutationSpec<F extends InputFieldMap, T extends object> = {
  description: string
  type: ObjectRef<Types, T & { dryRun?: boolean }>
  args: F
  resolve: (scope: WriteScope, args: Args<F>) => Promise<T>
  /** The result if the delete returns a plan instead. */
  planned?: (plan: DeletionPlan, args: Args<F>) => T
}

/**
 * Registers a mutation with `idempotencyKey` and `dryRun`. All mutations run through the engine's write
 * pipeline.
 */
export function mutation<F extends InputFieldMap, T extends object>(
  name: string,
  { description, type, args, resolve, planned }: MutationSpec<F, T>,
): void {
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      args: {
        ...args,
        idempotencyKey: t.arg.string({
          description:
            'Idempotency key: repeated requests with the same key take effect once. 1 to 255 visible ASCII characters.',
        }),
        dryRun: t.arg.boolean({
          description: 'Execute the write, roll it back, and return what it would have done.',
        }),
        ...(planned && {
          askFirst: t.arg.boolean({
            description: 'If more than one resource would be deleted, delete nothing and return a plan.',
          }),
          planToken: t.arg.string({
            description:
              'The token of an approved plan: delete exactly what it lists, if that has not changed.',
          }),
        }),
      },
      // Pothos cannot infer that the added arguments leave those of the noun unchanged.
      resolve: ((_root: unknown, all: WriteArgs & Args<F>, context: Context) =>
        run(
          name,
          all,
          context,
          (scope) => resolve(scope, all),
          planned && ((plan) => planned(plan, all)),
        )) as never,
    }),
  )
}

type WriteArgs = {
  idempotencyKey?: string | null
  dryRun?: boolean | null
  askFirst?: boolean | null
  planToken?: string | null
}

function run<T extends object>(
  name: string,
  args: WriteArgs,
  context: Context,
  work: (scope: WriteScope) => Promise<T>,
  answer: ((plan: DeletionPlan) => T) | undefined,
): Promise<T> {
  const asked = context.write
  const idempotencyKey = args.idempotencyKey ?? asked.idempotencyKey
  if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey))
    throw invalid({
      path: '/idempotency_key',
      code: 'invalid_key',
      message: 'An idempotency key has 1 to 255 visible ASCII characters.',
    })
  const plan = args.askFirst || args.planToken != null ? { token: args.planToken ?? null } : asked.plan
  return write(
    context.scope,
    {
      dryRun: args.dryRun ?? asked.dryRun,
      idempotencyKey,
      request: asked.request ?? (() => ['graphql', name, requestOf(args)]),
      onReplay: () => {
        asked.replayed = true
      },
      ...(answer && plan && { plan: { ...plan, answer } }),
    },
    work,
  )
}

/** Identity of the request without plan arguments, so that the approving call matches the planning call. */
const requestOf = ({ askFirst: _, planToken: __, ...args }: WriteArgs) => args
