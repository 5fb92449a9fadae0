import { type Detail, DomainError, invalid, oneFault } from '../../../foundation/errors.ts'

/** Preconditions of a write (optimistic concurrency): on the version, on existence, and on the claim. */
export type Expectation = {
  /**
   * Accepted versions (`If-Match: "3"`, `expected_version: 3`). An empty list never matches. Null: no
   * condition.
   */
  versions: readonly number[] | null
  /** `If-Match: *` */
  exists: boolean
  /** `If-None-Match: *` */
  absent: boolean
  /** The claim that the writer must hold on the record. */
  claim: string | null
  /** Read-only fields that the writer sends back. The write fails if one differs from the record. */
  stated?: Readonly<Record<string, unknown>>
}

export const NO_EXPECTATION: Expectation = { versions: null, exists: false, absent: false, claim: null }

type ExpectationArgs = {
  expectedVersions?: readonly number[] | null | undefined
  mustExist?: boolean | null | undefined
  mustBeAbsent?: boolean | null | undefined
  claimId?: string | null | undefined
  stated?: unknown
}

/** Reads the precondition arguments of a mutation. */
export function expectation(args: ExpectationArgs): Expectation {
  return {
    versions: args.expectedVersions ?? null,
    exists: args.mustExist ?? false,
    absent: args.mustBeAbsent ?? false,
    claim: args.claimId ?? null,
    ...(args.stated != null && { stated: readStated(args.stated) }),
  }
}

function readStated(stated: unknown): Readonly<Record<string, unknown>> {
  if (typeof stated === 'object' && stated !== null && !Array.isArray(stated))
    return stated as Record<string, unknown>
  throw invalid({ path: '/stated', code: 'type', message: 'stated must be an object.', expected: 'object' })
}

/**
 * Checks the version precondition.
 * @throws NOT_FOUND, or CONFLICT with `version_mismatch` or `exists`
 */
export function checkVersion(expected: Expectation, current: number | undefined, what: string): void {
  if (current === undefined) {
    if (expected.exists || expected.versions)
      throw oneFault('NOT_FOUND', `There is no ${what} to match.`, {
        path: '/expected_version',
        code: 'nothing_to_match',
        message: 'To create it, send the request without this precondition.',
      })
    return
  }
  if (expected.absent) throw alreadyExists(what)
  if (expected.versions && !expected.versions.includes(current))
    throw versionMismatch(current, expected.versions)
}

export const alreadyExists = (what: string) =>
  oneFault('CONFLICT', `There is already a ${what}.`, {
    path: '/id',
    code: 'exists',
    message: 'Use another id, or update the one that exists.',
  })

export function versionMismatch(current: number, sent: readonly number[]): DomainError {
  // A tag that names no version is 0.
  const message = `The current version is ${current}. ${sent.some(Boolean) ? 'Read it again, apply your change, and send the current version.' : `The tag names no version: write "${current}", without W/ before it.`}`
  const received = sent.length === 1 ? sent[0] : [...sent]
  return oneFault('CONFLICT', message, {
    path: '/expected_version',
    code: 'version_mismatch',
    expected: current,
    received,
  })
}

/**
 * Checks that a `confirm` names what is deleted. One that names another resource is a mistake, also where none is needed.
 * @throws CONFLICT
 */
export function checkConfirm(confirm: string | null, id: string, what: string): void {
  if (confirm === null || confirm === id) return
  throw oneFault('CONFLICT', `confirm does not name ${what}. Nothing was deleted.`, {
    ...toConfirm(id, `the id of ${what}`),
    received: confirm.slice(0, 100),
  })
}

/**
 * Error for deleting a non-empty container without its id in `confirm`. `holds` names the content: `Base "a"
 * holds records`.
 */
export const confirmFirst = (id: string, holds: string, whose: string) =>
  new DomainError('CONFLICT', `${holds}. Send confirm=${id} to delete it with all of them.`, {
    details: [toConfirm(id, `${whose} id`)],
  })

const toConfirm = (id: string, which: string): Detail => ({
  path: '/confirm',
  code: 'confirm_required',
  message: `Repeat ${which} in confirm.`,
  expected: id,
  hint: `confirm=${id}`,
})
