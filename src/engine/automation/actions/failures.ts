/** Failures of steps, in words of the action. */
import { DomainError, restated } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'

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
