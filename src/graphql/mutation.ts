import type { InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core'
import { digest } from '../digest.ts'
import { type WriteScope, write } from '../engine/write.ts'
import { invalid } from '../errors.ts'
import { isIdempotencyKey } from '../ids.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never
type Args<F extends InputFieldMap> = InputShapeFromFields<F>
type MutationSpec<F extends InputFieldMap, T extends object> = {
  description: string
  type: ObjectRef<Types, T & { dryRun?: boolean }>
  args: F
  resolve: (scope: WriteScope, args: Args<F>) => Promise<T>
}

/** Adds a mutation. Every one takes `idempotencyKey` and `dryRun` and goes through the engine's one way to write. */
export function mutation<F extends InputFieldMap, T extends object>(
  name: string,
  { description, type, args, resolve }: MutationSpec<F, T>,
): void {
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      args: {
        ...args,
        idempotencyKey: t.arg.string({
          description:
            'Names this request: sent again, it has one effect. 1 to 255 visible ASCII characters.',
        }),
        dryRun: t.arg.boolean({ description: 'Run it whole, undo it, and answer what would have happened.' }),
      },
      // Pothos cannot see that the two arguments added here leave those of the noun as they are.
      resolve: ((_root: unknown, all: WriteArgs & Args<F>, context: Context) =>
        run(name, all, context, (scope) => resolve(scope, all))) as never,
    }),
  )
}

type WriteArgs = { idempotencyKey?: string | null; dryRun?: boolean | null }

function run<T extends object>(
  name: string,
  args: WriteArgs,
  context: Context,
  work: (scope: WriteScope) => Promise<T>,
): Promise<T> {
  const asked = context.write
  const idempotencyKey = args.idempotencyKey ?? asked.idempotencyKey
  if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey))
    throw invalid({
      path: '/idempotency_key',
      code: 'invalid_key',
      message: 'An idempotency key has 1 to 255 visible ASCII characters.',
    })
  return write(
    context.scope,
    {
      dryRun: args.dryRun ?? asked.dryRun,
      idempotencyKey,
      fingerprint: asked.fingerprint ?? (() => digest(['graphql', name, args])),
      onReplay: () => {
        asked.replayed = true
      },
    },
    work,
  )
}
