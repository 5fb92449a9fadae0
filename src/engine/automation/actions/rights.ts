/** Who may run an action. Its steps run with the rights of the caller. */
import type { Step } from '../../../contract/action-shapes.ts'
import { DomainError, oneFault, restated } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { requirePermissions } from '../../records/batch/run-batch.ts'
import { hasTemplate } from '../../schema/templates/parse.ts'
import { type Access, namedTypes, requirePermission } from '../../storage/access/access.ts'
import { compileAccess } from '../../storage/access/compile-access.ts'
import type { ActionAddress } from './run-context.ts'

/** The rights of an action that does not run with those of its caller: the data of its base. Its author may do that, and more. */
export const rightsOfAction = (baseId: string): Access =>
  compileAccess([{ base: baseId, record_type: '*', environment: '*', permission: 'write' }])

/** Whether the endpoint of the scope runs this action with rights of its own. Then the caller sees the output only. */
export const hasOwnRights = ({ policy }: Scope, { baseId, id }: ActionAddress): boolean =>
  policy?.baseId === baseId && policy.action?.id === id && policy.action.runAs === 'action'

/** The scope in which the steps run. */
export function stepScope<S extends Scope>(scope: S, target: ActionAddress): S {
  if (!hasOwnRights(scope, target)) return scope
  const { policy: _, ...whole } = scope
  return { ...whole, access: rightsOfAction(target.baseId) } as S
}

const isRead = ({ type }: Step): boolean => type === 'query'

/**
 * Checks what is known before the run: that the caller may run the action, and may do each of its steps. `steps` is
 * null while the action is not read.
 * @throws FORBIDDEN, the same whether or not the action exists
 */
export async function requireRights(
  scope: Scope,
  { baseId, id }: ActionAddress,
  steps: readonly Step[] | null,
): Promise<void> {
  const access = rightsOf(scope)
  // A tool of an endpoint runs its own action, whatever else its caller may do.
  const isOffered = scope.policy?.baseId === baseId && scope.policy?.action?.id === id
  if (!isOffered) requirePermission(access, 'read', baseId, '*')
  if (steps === null) return
  if (!isOffered && !steps.every(isRead)) requirePermission(access, 'write', baseId, '*')
  for (const step of steps) await requireStep(scope, baseId, step)
}

async function requireStep(scope: Scope, baseId: string, step: Step): Promise<void> {
  const { name, type, record_type: recordType } = step
  if (type === 'http') return
  try {
    if (type !== 'query') await requirePermissions(scope, baseId, [writtenOut(step)])
    else if (typeof recordType === 'string' && !hasTemplate(recordType))
      requirePermission(rightsOf(scope), 'read', baseId, recordType)
  } catch (thrown) {
    throw atStep(thrown, name, null)
  }
}

/** The step without the names of types that a template gives: these are checked when the step runs. */
const writtenOut = (step: Step): object =>
  Object.fromEntries(
    Object.entries(step).filter(([, value]) => typeof value !== 'string' || !hasTemplate(value)),
  )

/**
 * The scope of a query step, whose record type is `written` so. At an endpoint, a query whose record type is a template also reaches what the endpoint lists.
 * @throws FORBIDDEN for a type that it does not reach, with those that it does
 */
export function queryScope(scope: Scope, baseId: string, written: unknown, recordType: string): Scope {
  const listing = scope.policy?.action?.listing
  if (!listing || typeof written !== 'string' || !hasTemplate(written)) return scope
  const reading = { ...scope, ...listing }
  const rights = rightsOf(reading)
  if (rights.allows('read', baseId, recordType)) return reading
  const allowed = namedTypes(rights, 'read', baseId) ?? []
  throw oneFault('FORBIDDEN', `This endpoint does not list records of type "${recordType}".`, {
    path: '/record_type',
    code: 'out_of_reach',
    message: 'Send a type that this endpoint lists, or that the action names.',
    received: recordType,
    allowed,
  })
}

// Failures of steps, in words of the action.

/** A failure at a step: its own status and code, with the step and the run, if one began, in the details. */
export function atStep(thrown: unknown, name: string, runId: string | null): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const at = `/steps${pointer(name)}`
  const message = thrown.message.replace(/^Operation 0: /, '').replace(/ Nothing was written\.$/, '')
  const of = runId === null ? {} : { run_id: runId }
  const located = thrown.details.map((detail) => ({
    ...detail,
    path: `${at}${detail.path.replace(/^\/operations\/0/, '')}`,
    ...of,
  }))
  const details =
    located[0]?.path === at ? located : [{ path: at, code: 'step_failed', message, ...of }, ...located]
  return restated(thrown, { message: `Step "${name}": ${message} Nothing was written.`, details })
}

/** The failure of a step without its cause, which may show data that the caller cannot read. The log of runs has it. */
export function withoutCause(thrown: unknown, runId: string): unknown {
  const step =
    thrown instanceof DomainError ? /^\/steps\/([^/]*)/.exec(thrown.details[0]?.path ?? '')?.[1] : undefined
  if (!(thrown instanceof DomainError) || step === undefined) return thrown
  const message = `Step "${step}" failed. Nothing was written.`
  const advice = 'The runs of the action say why, to those who may read the base.'
  const details = [{ path: `/steps/${step}`, code: 'step_failed', message: advice, run_id: runId }]
  return new DomainError(thrown.code, message, { details, cause: thrown })
}
