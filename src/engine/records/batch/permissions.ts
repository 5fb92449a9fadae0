import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { rightsOf } from '../../core/row-policy/apply.ts'
import type { Scope } from '../../core/scope.ts'
import { type Access, requirePermission } from '../../storage/access/access.ts'
import type { Permission } from '../../storage/access/grants.ts'
import { collect, refuse } from './faults.ts'
import { type Failure, kindOfOperation } from './operation.ts'

type Need = { permission: Permission; recordType: string; path: string }

/** Permissions that a raw operation needs, checked before its validity. */
function needsOf(raw: unknown): Need[] {
  const fields = (raw ?? {}) as Record<string, unknown>
  const kind = kindOfOperation(fields)
  if (kind && !kind.managedAs) return [{ permission: 'manage', recordType: '*', path: '' }]
  if (kind?.managedAs) {
    const { id } = fields
    return typeof id === 'string'
      ? [{ permission: 'manage', recordType: kind.managedAs(id), path: '/id' }]
      : []
  }
  const needs = needsAt(fields, NAMED, '')
  const { relationships } = fields
  if (Array.isArray(relationships))
    for (const [n, link] of relationships.entries())
      needs.push(...needsAt(link, ['record_type'], `/relationships/${n}`))
  return needs
}

/** Fields that name record types. */
const NAMED = ['record_type', 'source_record_type', 'target_record_type']

function needsAt(fields: unknown, names: readonly string[], at: string): Need[] {
  const needs: Need[] = []
  for (const name of names) {
    const recordType = ((fields ?? {}) as Record<string, unknown>)[name]
    if (typeof recordType === 'string') needs.push({ permission: 'write', recordType, path: `${at}/${name}` })
  }
  return needs
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
  for (const [index, each] of raw.entries()) {
    if (turnIsOver()) await nextTurn()
    for (const { permission, recordType, path } of needsOf(each)) {
      if (access.allows(permission, baseId, recordType)) continue
      collect(failures, index, () => requireOperation(access, permission, baseId, recordType, path))
    }
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
