/** What tokens may, in words, and which of them are people's tabs. */
import { type Grant, type Token, useBase, useSession } from '../api/queries.ts'
import { words } from '../words.ts'

const listOf = (ids: string | readonly string[] | undefined): readonly string[] =>
  ids === undefined ? [] : typeof ids === 'string' ? [ids] : ids

/** Whether a grant is about the base; one on a base covers its previews. */
export const reaches = (grant: Grant, base: string): boolean =>
  listOf(grant.base).some((id) => id === '*' || id === base || base.startsWith(`${id}--`))

export const endpointsOf = (grant: Grant): readonly string[] => listOf(grant.endpoint)

/** A grant in words: "endpoint reply, write". */
export function grantWords(grant: Grant): string {
  const { base, record_type: type, endpoint, environment, permission, writes = 'direct' } = grant
  const [bases, types, endpoints] = [listOf(base), listOf(type), listOf(endpoint)]
  const where = endpoints.length
    ? words.grants.endpoints(endpoints)
    : types.includes('*')
      ? bases.includes('*')
        ? words.grants.allBases
        : bases.join(', ')
      : words.grants.types(types)
  const part = environment === 'preview' || environment === 'production' ? words.grants.only[environment] : ''
  const how = writes === 'propose' ? words.grants.proposes : writes !== 'direct' ? words.grants.rules : ''
  return `${where}${part}, ${words.grants.permissions[permission]}${how}`
}

/** Without the tokens of tabs: a person who signed in is one author. */
export const signedInAs = (tokens: readonly Token[]): Token[] =>
  tokens.filter(
    ({ name, created_by: maker }) =>
      !tokens.some((parent) => parent.id === maker && name.startsWith(`${parent.name} (`)),
  )

const RANKS = ['read', 'write', 'manage', 'admin'] as const

/** Whether grants allow something with records of a type, `*` for all of them, or of any. The server decides; this greys a button. */
export function allows(
  grants: readonly Grant[],
  base: string,
  type: string | undefined,
  permission: Grant['permission'],
  environment: string | undefined,
): boolean {
  const isOf = (list: string | readonly string[] | undefined, name: string | undefined) =>
    listOf(list).some((each) => each === '*' || each === name || name === undefined)
  return grants.some(
    (grant) =>
      reaches(grant, base) &&
      isOf(grant.record_type, type) &&
      (grant.environment === undefined ||
        environment === undefined ||
        isOf(grant.environment, environment)) &&
      RANKS.indexOf(grant.permission) >= RANKS.indexOf(permission),
  )
}

/** The same of who is signed in; in the environment of the base, where none is named. */
export function useMay(
  base: string,
  type: string | undefined,
  permission: Grant['permission'],
  named?: 'preview',
): boolean {
  const session = useSession()
  // All of them are no base that could be read.
  const own = useBase(base, { enabled: base !== '*' }).data?.environment
  const environment = named ?? own
  return 'self' in session && allows(session.self.grants, base, type, permission, environment)
}
