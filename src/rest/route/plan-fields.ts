/** Plans of REST writes: the body asks for one with `ask_first`, and confirms it with `plan_token` alone. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { check, inBody } from '../../contract/validate.ts'
import { isObject } from '../../foundation/is-object.ts'
import { plannedRequest, planOfAnotherCall } from '../../graphql/context.ts'
import { partsNamed } from './request-parts.ts'
import { Deletion, time } from './shapes.ts'

/** The fields of a plan in a body. */
export const PlanFields = z.object({
  ask_first: z
    .boolean()
    .optional()
    .meta({ description: 'If more than one resource would be deleted, write nothing and return a plan.' }),
  plan_token: z.string().optional().meta({
    description: 'The token of a plan, alone: do exactly what the plan says, if nothing of it has changed.',
  }),
})

/** A plan: what a write would delete, and the token that approves it. */
export const DeletionPlanAnswer = z
  .object({
    plan: z.object({ what: z.string().meta({ description: 'The plan as a sentence.' }), ...Deletion.shape }),
    plan_token: z.string().meta({ description: 'Send it alone to do what the plan says.' }),
    expires_at: time,
    next: z.string(),
  })
  .meta({ id: 'DeletionPlan' })

/**
 * Takes the fields of the plan out of the body. A body with the token alone becomes that of the planned request.
 * @returns the approval that the write runs with; null to run it at once
 * @throws VALIDATION_ERROR when the plan belongs to another request or caller
 */
export async function takePlan(
  request: FastifyRequest,
  path: string,
  always: boolean,
): Promise<{ token: string | null } | null> {
  const { body } = request
  if (!isObject(body)) return always ? { token: null } : null
  const { ask_first, plan_token, ...content } = body
  const asked = check(PlanFields, { ask_first, plan_token }, inBody())
  request.body = content
  if (asked.plan_token === undefined) return always || asked.ask_first ? { token: null } : null
  if (Object.keys(content).length === 0) request.body = await bodyOf(request, path, asked.plan_token)
  return { token: asked.plan_token }
}

/** The body of the planned request, if it went to the same route and parameters. */
async function bodyOf(request: FastifyRequest, path: string, token: string): Promise<unknown> {
  const [surface, method, of, ...rest] = (await plannedRequest(request.caller, token)) as unknown[]
  const [ofSurface, ofMethod, here] = partsNamed(request, path)
  if (surface !== ofSurface || method !== ofMethod || of !== here) throw planOfAnotherCall()
  return rest.at(-1)
}
