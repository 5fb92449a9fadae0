import { type Detail, DomainError, withoutCount } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import type { TypePolicy } from '../policy.ts'

/**
 * Runs a write and redacts its errors: details of hidden properties are reduced to the fact that one failed.
 */
export async function redacted<T>(policy: TypePolicy | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    throw policy?.visible && thrown instanceof DomainError ? redact(thrown, policy.visible) : thrown
  }
}

/** Removes details about hidden properties from an error. */
export function redact(error: DomainError, visible: readonly string[]): DomainError {
  // The total count would include hidden details.
  const listed = withoutCount(error.details)
  const open = listed.filter((detail) => isOpen(detail, visible))
  if (open.length === error.details.length) return error
  const details = open.length === listed.length ? open : [...open, hidden(error.code)]
  return new DomainError(error.code, details[0]?.message ?? error.message, { details })
}

/**
 * Whether a detail is safe to show. Faults of `data` as a whole and unique violations may depend on hidden
 * properties.
 */
function isOpen({ path, code }: Detail, visible: readonly string[]): boolean {
  if (code === 'duplicate_value') return false
  if (code === 'too_large' || !/^\/data(\/|$)/.test(path)) return true
  return visible.some((name) => {
    const at = `/data${pointer(name)}`
    return path === at || path.startsWith(`${at}/`)
  })
}

const hidden = (code: DomainError['code']): Detail => ({
  path: '/data',
  code: 'hidden_properties',
  message:
    code === 'CONFLICT'
      ? 'A unique constraint on a hidden field failed. Send other values.'
      : 'Hidden properties of the record are missing or not valid. Ask the operator of this endpoint to set them in its "defaults".',
})
