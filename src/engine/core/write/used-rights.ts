import { type Access, requireFiles, requirePermission } from '../../storage/access/access.ts'
import type { Grant, Permission } from '../../storage/access/grants.ts'
import { requireGrant } from '../authentication/may-manage.ts'
import { rightsOf } from '../row-policy/apply.ts'
import type { Scope } from '../scope.ts'

/** A right that a write used: a permission on a type or on files of a base, or a complete grant. */
export type UsedRight =
  | { permission: Permission; base: string; recordType: string }
  | { permission: 'read' | 'write'; base: string; fileType: string }
  | { grant: Grant }

/**
 * Wraps the scope to record the rights that a write uses. A replay of its stored response requires the same
 * rights.
 */
export function recordRights(scope: Scope): { scope: Scope; used(): UsedRight[] } {
  const found = new Map<string, UsedRight>()
  const note = (right: UsedRight) => void found.set(JSON.stringify(right), right)
  const recorded = (access: Access): Access => ({
    ...access,
    allows: (permission, base, recordType) => {
      const isAllowed = access.allows(permission, base, recordType)
      if (isAllowed) note({ permission, base, recordType })
      return isAllowed
    },
    allowsFiles: (permission, base, fileType) => {
      const isAllowed = access.allowsFiles(permission, base, fileType)
      if (isAllowed) note({ permission, base, fileType })
      return isAllowed
    },
    covers: (grant) => {
      const isCovered = access.covers(grant)
      if (isCovered) note({ grant })
      return isCovered
    },
  })
  const { policy } = scope
  return {
    scope: {
      ...scope,
      access: recorded(scope.access),
      ...(policy && { policy: { ...policy, access: recorded(policy.access) } }),
    },
    used: () => [...found.values()],
  }
}

/**
 * Checks each recorded right again.
 * @throws FORBIDDEN for the first that is missing now
 */
export function requireRecordedRights(scope: Scope, used: readonly UsedRight[]): void {
  const access = rightsOf(scope)
  for (const right of used) {
    if ('grant' in right) requireGrant(access, right.grant)
    else if ('fileType' in right) requireFiles(access, right.permission, right.base, right.fileType)
    else requirePermission(access, right.permission, right.base, right.recordType)
  }
}
