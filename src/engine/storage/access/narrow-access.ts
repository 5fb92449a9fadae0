/** Rights that are a part of a token's rights. */
import { productionOf } from '../../../contract/ids.ts'
import type { Access } from './access.ts'
import { compileAccess } from './compile-access.ts'
import { type Grant, level, listed, type Permission } from './grants.ts'

/**
 * Restriction of a token's rights: to these record types, and to at most this permission; null does not
 * restrict.
 */
export type Narrowing = { types: readonly string[] | null; permission: Permission | null }

/**
 * Intersects the rights with the restriction. Bases stay visible, even when nothing in them is. Endpoint
 * grants are left out: an address with restrictions reaches no endpoint.
 */
export function narrowAccess(access: Access, { types, permission }: Narrowing): Access {
  const least = (own: Permission) => (permission && level(permission) < level(own) ? permission : own)
  const grants = access.grants.flatMap((grant): Grant[] => {
    if (grant.record_type === undefined) return []
    const own = listed(grant.record_type)
    const left = types ? types.filter((type) => own.includes('*') || own.includes(type)) : grant.record_type
    return [{ ...grant, record_type: left, permission: least(grant.permission) }]
  })
  return { ...compileAccess(grants, access.paused), whole: access.whole ?? access }
}

/** Permissions that remain when rights are restricted to types: those on records. */
const ON_RECORDS = ['read', 'write'] as const

const environmentOf = (baseId: string) => (productionOf(baseId) === baseId ? 'production' : 'preview')

/**
 * The same rights on the records of some types of one base, and none on the base itself or on anything else.
 */
export function accessToTypes(access: Access, baseId: string, types: Iterable<string>): Access {
  const environment = environmentOf(baseId)
  const grants = [...types].flatMap((recordType): Grant[] => {
    const permission = ON_RECORDS.findLast((each) => access.allows(each, baseId, recordType))
    return permission ? [{ base: baseId, record_type: [recordType], environment, permission }] : []
  })
  return { ...compileAccess(grants, access.paused), whole: access.whole ?? access }
}

/** Files of a base, or of one file type in it. */
export type FileReach = { baseId: string; fileType: string | null; permission: 'read' | 'write' }

/** The same rights on some files, and none on anything else. */
export function accessToFiles(access: Access, { baseId, fileType, permission }: FileReach): Access {
  return {
    ...compileAccess([], access.paused),
    allowsFiles: (wanted, base, type) =>
      level(wanted) <= level(permission) &&
      base === baseId &&
      (fileType === null || fileType === type) &&
      access.allowsFiles(wanted, base, type),
    whole: access.whole ?? access,
  }
}

/**
 * The rights at an endpoint: the grants on types, and the permission of the endpoint grants on the records of
 * the endpoint's types. Code that uses them applies the endpoint's policy.
 */
export function accessAtEndpoint(
  access: Access,
  baseId: string,
  types: Iterable<string>,
  permission: Permission,
): Access {
  const own: Grant = {
    base: baseId,
    record_type: [...new Set(types)],
    environment: environmentOf(baseId),
    permission: permission === 'read' ? 'read' : 'write',
  }
  const onTypes = access.grants.filter((grant) => grant.record_type !== undefined)
  return { ...compileAccess([...onTypes, own], access.paused), whole: access.whole ?? access }
}
