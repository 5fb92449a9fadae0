import { type Context, plannedRequest, planOfAnotherCall } from '../../graphql/context.ts'

/** Arguments that a confirming call may have beside its token. */
const BESIDE_TOKEN = ['plan_token', 'idempotency_key', 'base_id']

/**
 * The arguments of the planned call, if a call has its plan_token alone, or beside empty arguments; else `args`.
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
  const beside = Object.entries(args).filter(([key, value]) => BESIDE_TOKEN.includes(key) || !isEmpty(value))
  if (beside.some(([key]) => !BESIDE_TOKEN.includes(key))) return args
  const [surface, ...planned] = (await plannedRequest(context, plan_token)) as unknown[]
  const [ofAt, ofName, ofArgs] = planned
  if (surface !== 'mcp' || ofAt !== at || ofName !== name) throw planOfAnotherCall()
  return { ...(ofArgs as Record<string, unknown>), ...Object.fromEntries(beside) }
}

/** Models send an argument that they cannot leave out empty: "", [], {}, null, or the default false. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)
