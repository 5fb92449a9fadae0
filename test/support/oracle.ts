/** Says from the grants of a token alone what it may do: the rules of docs, written independently of the source. */
import type { World } from './world.ts'

const LEVELS = ['read', 'write', 'manage', 'admin'] as const
export type Level = (typeof LEVELS)[number]
export type HeldGrant = {
  base: string
  record_type?: string
  endpoint?: string
  environment: 'production' | 'preview' | '*'
  permission: Level
  writes?: unknown
}
/** A token as the oracle knows it. `dead` ones are of nobody: expired, revoked, invented or none. */
export type Holder = {
  name: string
  grants: readonly HeldGrant[]
  dead?: true
  call: World['call']
  token: string | null
}

/** Whether grants suffice for a request at a base; `isProposal` where what it writes can be a proposal. */
export type Need = (grants: readonly HeldGrant[], base: string, isProposal: boolean) => boolean

const productionOf = (base: string) => base.split('--')[0] ?? ''
const environmentOf = (base: string) => (base.includes('--') ? 'preview' : 'production')
const isOn = ({ base, environment }: HeldGrant, at: string) =>
  ['*', at, productionOf(at)].includes(base) && ['*', environmentOf(at)].includes(environment)

/** What a grant that proposes holds in production is the right to read. */
const levelOf = ({ permission, writes }: HeldGrant, base: string, isProposal: boolean): number =>
  writes !== undefined && environmentOf(base) === 'production' && !isProposal ? 0 : LEVELS.indexOf(permission)

const onTypes = (grants: readonly HeldGrant[], base: string) =>
  grants.filter((grant) => grant.record_type !== undefined && isOn(grant, base))

/** A permission on a type, on the whole base (`*`), or on any type of it (`any`). */
export const has =
  (level: Level, type: string): Need =>
  (grants, base, isProposal) =>
    onTypes(grants, base).some(
      (grant) =>
        (type === 'any' || grant.record_type === '*' || grant.record_type === type) &&
        levelOf(grant, base, isProposal) >= LEVELS.indexOf(level),
    )
export const open: Need = () => true
/** Any grant on types of the base. */
export const sight: Need = (grants, base) => onTypes(grants, base).length > 0
/** Any grant on the base, on an endpoint too. */
export const known: Need = (grants, base) => grants.some((grant) => isOn(grant, base))
/** Any grant at all of which holds `admin`. */
export const administers: Need = (grants) => grants.some(({ permission }) => permission === 'admin')
/** A grant of all types in both environments that holds the permission at the base: what a new token can be given. */
export const covers =
  (level: Level): Need =>
  (grants, base) =>
    grants.some(
      (grant) =>
        grant.environment === '*' && grant.writes === undefined && has(level, '*')([grant], base, false),
    )
/** The permission on everything that the server has. */
export const everywhere =
  (level: Level): Need =>
  (grants, base) =>
    covers(level)(
      grants.filter((grant) => grant.base === '*'),
      base,
      false,
    )
export const isProduction: Need = (_, base) => environmentOf(base) === 'production'
export const isPreview: Need = (_, base) => environmentOf(base) === 'preview'
export const reaches =
  (endpoint: string): Need =>
  (grants, base, isProposal) =>
    has('read', '*')(grants, base, isProposal) ||
    grants.some((grant) => grant.endpoint === endpoint && isOn(grant, base))
/** The permission on the type where the endpoint is: its grants and those on types add up. */
export const atEndpoint =
  (endpoint: string, level: Level, type: string): Need =>
  (grants, base, isProposal) =>
    has(level, type)(grants, base, isProposal) ||
    grants.some(
      (grant) =>
        grant.endpoint === endpoint &&
        isOn(grant, base) &&
        LEVELS.indexOf(grant.permission) >= LEVELS.indexOf(level),
    )
export const both =
  (...needs: readonly Need[]): Need =>
  (...args) =>
    needs.every((need) => need(...args))
export const either =
  (...needs: readonly Need[]): Need =>
  (...args) =>
    needs.some((need) => need(...args))
/** A need at a preview of the base that has no grant of its own. */
export const inPreviews =
  (need: Need): Need =>
  (grants, base, isProposal) =>
    need(grants, `${productionOf(base)}--`, isProposal)
export const inProduction =
  (need: Need): Need =>
  (grants, base, isProposal) =>
    need(grants, productionOf(base), isProposal)

/** Every permission with every scope, tokens that propose, and tokens that are none. */
export async function holders(world: World, base: string, other: string, type = 'task'): Promise<Holder[]> {
  const whole = { base, record_type: '*', environment: '*' } as const
  const scopes: Record<string, Omit<HeldGrant, 'permission'>> = {
    'the base': whole,
    'another base': { ...whole, base: other },
    'all bases': { ...whole, base: '*' },
    'one type': { ...whole, record_type: type },
    'another type': { ...whole, record_type: 'collections' },
    'an absent type': { ...whole, record_type: 'none' },
    previews: { ...whole, environment: 'preview' },
    production: { ...whole, environment: 'production' },
    'one preview': { ...whole, base: `${base}--dev` },
    'an endpoint': { base, endpoint: 'desk', environment: '*' },
  }
  const sets: [string, HeldGrant[]][] = Object.entries(scopes).flatMap(([name, scope]) =>
    LEVELS.map((permission): [string, HeldGrant[]] => [
      `${permission} on ${name}`,
      [{ ...scope, permission }],
    ]),
  )
  const write = { permission: 'write', writes: 'propose' } as const
  const auto = [{ record_type: 'none', operations: ['create'], max: 1, per: 'hour' }]
  sets.push(
    ['proposes to the base', [{ ...whole, ...write }]],
    ['proposes to one type', [{ ...whole, ...write, record_type: type }]],
    ['proposes to one type, by rules', [{ ...whole, ...write, record_type: type, writes: { auto } }]],
    [
      'reads the base, manages one type',
      [
        { ...whole, permission: 'read' },
        { ...whole, permission: 'manage', record_type: type },
      ],
    ],
    [
      'manages previews, reads production',
      [
        { ...whole, permission: 'manage', environment: 'preview' },
        { ...whole, permission: 'read', environment: 'production' },
      ],
    ],
  )
  const alive = await Promise.all(
    sets.map(
      async ([name, grants]): Promise<Holder> => ({ name, grants, ...(await world.newToken(grants)) }),
    ),
  )
  const admin: HeldGrant[] = [{ ...whole, base: '*', permission: 'admin' }]
  const person = await world.newToken([{ ...whole, permission: 'write' }], { kind: 'person' })
  const [expired, revoked] = [await world.newToken(admin), await world.newToken(admin)]
  await world.database.query(`UPDATE plinth.token SET expires_at = now() - interval '1 s' WHERE id = $1`, [
    expired.id,
  ])
  await world.call('DELETE', `/v1/tokens/${revoked.id}`)
  const dead = (name: string, token: string | null): Holder => ({
    ...{ name, grants: [], dead: true, token },
    call: world.as(token),
  })
  return [
    ...alive,
    { name: 'a person who writes', grants: [{ ...whole, permission: 'write' }], ...person },
    dead('expired', expired.token),
    dead('revoked', revoked.token),
    dead('invented', 'plt_0000000000000000000000000000000000000000000'),
    dead('none', null),
  ]
}
