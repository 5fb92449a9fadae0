import { digest } from '../../contract/canonical-hash.ts'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Scope } from '../core/scope.ts'
import { seal, unseal } from '../core/sealed-token.ts'

/** What a token of a plan says: until when, and, as short names, whose it is, of which request, and of what state. */
type Approval = {
  readonly expiresAt: number
  readonly who: string
  readonly request: string
  readonly state: string
}

const PURPOSE = 'deletion plan'
/** Of each name: 96 bits, in a token that models have to repeat letter by letter. */
const NAME_CHARS = 16

const short = (name: string) => name.slice(0, NAME_CHARS)

// A token never stands for rights: it is of use only to who has them, with the rights that the plan was made with.
const whoOf = ({ actor, access }: Scope) => short(digest([actor.tokenId, actor.name, access.grants]))

/** A token that approves of one request in one state, for ten minutes. */
export function sealPlan(scope: Scope, request: string, state: string): { token: string; expiresAt: Date } {
  const expiresAt = Date.now() + LIMITS.planMinutes * 60_000
  const parts = [expiresAt, whoOf(scope), short(request), short(state)]
  return { token: seal(scope.keys.plan, PURPOSE, JSON.stringify(parts)), expiresAt: new Date(expiresAt) }
}

/** What the token approves of. @throws VALIDATION_ERROR when it is not one for this caller and this request */
export function openPlan(scope: Scope, request: string, token: string): Approval {
  const text = unseal(scope.keys.plan, PURPOSE, token)
  if (text === undefined)
    throw refused('invalid_plan_token', 'The plan_token is not valid. Send it exactly as it was returned.')
  const [expiresAt, who, of, state] = JSON.parse(text) as [number, string, string, string]
  if (who !== whoOf(scope))
    throw refused('plan_of_another_token', 'The plan belongs to another token, or the grants have changed.')
  if (of !== short(request))
    throw refused('plan_of_another_call', 'The plan belongs to another call. Send the same arguments.')
  return { expiresAt, who, request: of, state }
}

/** Is the approval for what would be taken now? Why not, otherwise. */
export function refusalOf(
  { expiresAt, state }: Approval,
  now: string,
): 'plan_expired' | 'plan_stale' | undefined {
  if (Date.now() >= expiresAt) return 'plan_expired'
  return state === short(now) ? undefined : 'plan_stale'
}

const refused = (code: string, message: string) =>
  invalid({
    path: '/plan_token',
    code,
    message: `${message} Call without plan_token for a plan of this call.`,
  })
