import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { type Access, requirePermission } from '../../storage/access/access.ts'
import type { Permission } from '../../storage/access/grants.ts'
import { collect, refuse } from './faults.ts'
import { type Failure, kindOfOperation } from './operation.ts'

/** Takes a permission that an operation needs, with the place of the field that names the type: `at` and its name. */
type Visit = (permission: Permission, recordType: string, at: string, name: string) => void

/** Calls `visit` for each permission that a raw operation needs, checked before its validity. */
function eachNeed(raw: unknown, visit: Visit): void {
  const fields = (raw ?? {}) as Record<string, unknown>
  const kind = kindOfOperation(fields)
  if (kind) {
    const { id } = fields
    if (!kind.managedAs) visit('manage', '*', '', '')
    else if (typeof id === 'string') visit('manage', kind.managedAs(id), '', '/id')
    return
  }
  eachNeedAt(fields, NAMED, '', visit)
  const { relationships } = fields
  if (Array.isArray(relationships))
    for (const [n, link] of relationships.entries())
      eachNeedAt(link, ['record_type'], `/relationships/${n}`, visit)
}

/** Fields that name record types. */
const NAMED = ['record_type', 'source_record_type', 'target_record_type']

function eachNeedAt(fields: unknown, names: readonly string[], at: string, visit: Visit): void {
  for (const name of names) {
    const recordType = ((fields ?? {}) as Record<string, unknown>)[name]
    if (typeof recordType === 'string') visit('write', recordType, at, `/${name}`)
  }
}

/**
 * Checks the permissions of all operations.
 * @throws FORBIDDEN with each operation outside the grants
 */
export async function requirePermissions(
  scope: Scope,
  baseId: string,
  raw: readonly unknown[],
): Promise<void> {
  const failures: Failure[] = []
  const access = rightsOf(scope)
  let index = 0
  let written: string | undefined
  const visit: Visit = (permission, recordType, at, name) => {
    // Most operations write the type of the one before.
    if (permission === 'write' && recordType === written) return
    if (!access.allows(permission, baseId, recordType))
      collect(failures, index, () => requireOperation(access, permission, baseId, recordType, `${at}${name}`))
    else if (permission === 'write') written = recordType
  }
  for (; index < raw.length; index++) {
    if (turnIsOver()) await nextTurn()
    eachNeed(raw[index], visit)
  }
  refuse(failures)
}

function requireOperation(
  access: Access,
  permission: Permission,
  baseId: string,
  recordType: string,
  path: string,
): void {
  try {
    requirePermission(access, permission, baseId, recordType)
  } catch (thrown) {
    const { code, message, details } = thrown as DomainError
    throw new DomainError(code, message, { details: details.map((detail) => ({ ...detail, path })) })
  }
}
