/** Which grants the claims of a person give: `PLINTH_OIDC_GRANTS`. */
import { z } from 'zod'
import { Grant, TokenBody } from '../../contract/shapes.ts'
import { check } from '../../contract/validate.ts'
import { oneFault } from '../../foundation/errors.ts'

const Rules = z
  .array(
    z.strictObject({
      claim: z.string().min(1),
      value: z.union([z.string(), z.boolean(), z.number()]),
      grants: z.array(Grant).min(1),
    }),
  )
  .min(1)
type Rules = z.output<typeof Rules>
export type Claims = Readonly<Record<string, unknown>>

/** @throws an Error that names what is wrong with the setting */
export function readRules(setting: unknown): Rules {
  const read = Rules.safeParse(setting)
  if (read.success) return read.data
  const [first] = read.error.issues
  throw new Error(
    `Invalid settings: PLINTH_OIDC_GRANTS is a list of { claim, value, grants }; ${first?.path.join('.')}: ${first?.message}.`,
  )
}

/**
 * The grants of all rules that hold. A claim that is a list holds each of its values.
 * @throws FORBIDDEN for a person without grants
 */
export function grantsFor(rules: Rules, claims: Claims) {
  const found = rules.flatMap(({ claim, value, grants }) => {
    const own = Object.hasOwn(claims, claim) ? claims[claim] : undefined
    return own === value || (Array.isArray(own) && own.includes(value)) ? grants : []
  })
  if (found.length === 0)
    throw oneFault('FORBIDDEN', 'You are known, and have no access here.', {
      path: '',
      code: 'no_grants',
      message: 'The operator gives access by PLINTH_OIDC_GRANTS: ask for a group that has some.',
    })
  return check(TokenBody.shape.grants, found, (path) => `PLINTH_OIDC_GRANTS/${path.join('/')}`)
}
