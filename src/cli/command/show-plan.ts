/** Says what a deletion would do that waits for its plan to be approved. */
import { note } from './print.ts'

export type Planned = { plan: { what: string }; plan_token: string }

export const isPlanned = (body: object): body is Planned => 'plan' in body

export const notePlan = ({ plan, plan_token: token }: Planned): void =>
  note(`${plan.what} Nothing is deleted yet. To do it, pass only --plan-token ${token}\n`)
