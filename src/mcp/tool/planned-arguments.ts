import { type Context, plannedRequest, planOfAnotherCall } from '../../graphql/context.ts'

/** Arguments that a confirming call may have beside its token. */
const BESIDE_TOKEN = ['plan_token', 'idempotency_key', 'base_id']

/**
 * The arguments of the planned call, if a call has its plan_token alone; else `args`.
 * @throws VALIDATION_ERROR when the plan belongs to another call or caller
 */
export async function withPlanned(
  args: Record<string, unknown>,
  takesPlans: boolean,
  [at, name]: readonly [at: string, name: string],
  context: Context,
): Promise<Record<string, unknown>> {
  const { plan_token } = args
  if (typeof plan_token !== 'string' || !takesPlans) return args
  if (Object.keys(args).some((key) => !BESIDE_TOKEN.includes(key))) return args
  const [surface, ...planned] = (await plannedRequest(context, plan_token)) as unknown[]
  const [ofAt, ofName, ofArgs] = planned
  if (surface !== 'mcp' || ofAt !== at || ofName !== name) throw planOfAnotherCall()
  return { ...(ofArgs as Record<string, unknown>), ...args }
}
