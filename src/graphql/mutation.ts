import type { InputFieldMap, InputShapeFromFields, InterfaceRef, ObjectRef } from '@pothos/core'
import { isIdempotencyKey } from '../contract/ids.ts'
import { openChangeSetOf } from '../engine/core/change-set/change-set-scope.ts'
import type { Scope } from '../engine/core/scope.ts'
import type { DeletionPlan } from '../engine/core/write/deletion-plan.ts'
import type { Approvable } from '../engine/core/write/plan-approval.ts'
import { type WriteScope, write } from '../engine/core/write/write.ts'
import { invalid } from '../foundation/errors.ts'
import { builder } from './builder.ts'
import { type Context, plannedRequest } from './context.ts'

type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never
type Args<F extends InputFieldMap> = InputShapeFromFields<F>
type MutationSpec<F extends InputFieldMap, T extends object, P extends Approvable> = {
  description: string
  type: ObjectRef<Types, T> | InterfaceRef<Types, T>
  args: F
  resolve: (scope: WriteScope, args: Args<F>) => Promise<NoInfer<T>>
  /** The arguments can hold secrets. */
  carriesSecrets?: boolean
  /** Takes what the write needs before its transaction, and gives it back after. */
  reserve?: <R>(scope: Scope, args: Args<F>, work: (scope: Scope) => Promise<R>) => Promise<R>
  /** The result if the write returns a plan instead. Its type is that of the review that the write makes. */
  planned?: (plan: P, args: Args<F>) => NoInfer<T>
  /** The arguments that the plan replaces: with `planToken` and without these, the planned ones are taken. */
  plannedArgs?: readonly (keyof F & string)[]
}

const answering = new Set<object>()

/** A type that a write answers with says whether it was a dry run. */
function sayDryRun(type: ObjectRef<Types, object> | InterfaceRef<Types, object>): void {
  if (answering.has(type)) return
  answering.add(type)
  const resolve = (answer: { dryRun?: boolean }) => answer.dryRun
  if (type.kind === 'Object')
    builder.objectField(type, 'dryRun', (t) => t.boolean({ nullable: true, resolve }))
  else builder.interfaceField(type, 'dryRun', (t) => t.boolean({ nullable: true, resolve }))
}

/**
 * Registers a mutation with `idempotencyKey` and `dryRun`. All mutations run through the engine's write
 * pipeline.
 */
export function mutation<F extends InputFieldMap, T extends object, P extends Approvable = DeletionPlan>(
  name: string,
  {
    description,
    type,
    args,
    resolve,
    carriesSecrets,
    reserve,
    planned,
    plannedArgs = [],
  }: MutationSpec<F, T, P>,
): void {
  sayDryRun(type)
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
            description: 'If the write needs approval, write nothing and return a plan.',
          }),
          planToken: t.arg.string({
            description:
              'The token of an approved plan: do exactly what it says, if nothing of it has changed.',
          }),
        }),
      },
      // Pothos cannot infer that the added arguments leave those of the noun unchanged.
      resolve: (async (_root: unknown, sent: WriteArgs & Args<F>, context: Context) => {
        const all = await withPlanned(name, sent, plannedArgs, context)
        const writing = (scope: Scope) =>
          runWrite(name, all, { ...context, scope }, (within) => resolve(within, all), {
            carriesSecrets,
            ...(planned && { answer: (plan) => planned(plan as P, all) }),
          })
        return reserve ? reserve(context.scope, all, writing) : writing(context.scope)
      }) as never,
    }),
  )
}

type WriteArgs = {
  idempotencyKey?: string | null
  dryRun?: boolean | null
  askFirst?: boolean | null
  planToken?: string | null
}

type WriteTraits<T> = {
  /** The result if the write returns a plan instead. */
  answer?: (plan: Approvable) => T
  carriesSecrets?: boolean | undefined
}

/** A request to a change-set is another one than the same to its production base. */
const ofChangeSet = ({ changeSet }: Scope, request: () => unknown): (() => unknown) =>
  changeSet === undefined ? request : () => ['change_set', changeSet, request()]

/** Runs a write in the engine's pipeline. Its name and arguments are its identity for idempotency. */
export async function runWrite<T extends object>(
  name: string,
  args: WriteArgs,
  context: Context,
  work: (scope: WriteScope) => Promise<T>,
  { carriesSecrets = false, answer }: WriteTraits<T> = {},
): Promise<T> {
  const asked = context.write
  const idempotencyKey = args.idempotencyKey ?? asked.idempotencyKey
  if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey))
    throw invalid({
      path: '/idempotency_key',
      code: 'invalid_key',
      message: 'An idempotency key has 1 to 255 visible ASCII characters.',
    })
  // Nobody confirms a write of the surface in a change-set: the proposal shows it before it counts. Rules confirm what they let pass.
  const { changeSet, byRules } = context.scope
  const planOfSurface = changeSet === undefined && !byRules ? asked.plan : null
  const plan = args.askFirst || args.planToken != null ? { token: args.planToken ?? null } : planOfSurface
  const done = await write(
    context.scope,
    {
      dryRun: args.dryRun ?? asked.dryRun,
      idempotencyKey,
      carriesSecrets,
      request: ofChangeSet(context.scope, asked.request ?? (() => ['graphql', name, requestOf(args)])),
      onReplay: () => {
        asked.replayed = true
      },
      ...(answer && plan && { plan: { ...plan, answer } }),
    },
    work,
  )
  asked.changeSet = openChangeSetOf(context.scope) ?? null
  asked.seenIn ??= asked.changeSet
  return done
}

/**
 * Identity of the request without the arguments of plan and idempotency, so that the approving call matches
 * the planning call.
 */
const requestOf = ({ askFirst: _, planToken: __, idempotencyKey: ___, ...args }: WriteArgs) => args

/** The arguments of the plan, if the request has its token and nothing else of them. */
async function withPlanned<A extends WriteArgs>(
  name: string,
  args: A,
  plannedArgs: readonly string[],
  context: Context,
): Promise<A> {
  const { planToken } = args
  const isSent = (arg: string) => (args as Record<string, unknown>)[arg] != null
  if (planToken == null || plannedArgs.length === 0 || plannedArgs.some(isSent)) return args
  const [surface, of, planned] = (await plannedRequest(context, planToken)) as unknown[]
  // Another mutation has another identity, and is refused when the plan is opened.
  if (surface !== 'graphql' || of !== name) return args
  const given = planned as Record<string, unknown>
  return { ...args, ...Object.fromEntries(plannedArgs.map((arg) => [arg, given[arg]])) }
}
