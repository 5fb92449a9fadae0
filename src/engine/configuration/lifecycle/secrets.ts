/**
 * Secret fields of a kind: encrypted where they are stored, hidden wherever its resources are shown, kept where a
 * write does not set them.
 */
import { toSnake } from '../../../contract/field-names.ts'
import { REDACTED } from '../../../foundation/redacted.ts'
import type { Scope } from '../../core/scope.ts'
import type { Kind } from './kind.ts'

type OfKind = Pick<Kind, 'secrets'>
/** A resource whose secrets are stored. */
export type Owner = {
  readonly kind: Pick<Kind, 'name' | 'secrets'>
  readonly baseId: string
  readonly id: string
}
type Vault = Pick<Scope, 'vault'>
/** Secrets by field. */
export type Secrets = Readonly<Record<string, string>>
type Definition = Readonly<Record<string, unknown>>

/** The fields without their secrets. */
export function redact<F extends object>({ secrets }: OfKind, fields: F): F {
  const hidden = Object.keys(secrets ?? {}).map((name) => [name, REDACTED])
  return hidden.length === 0 ? fields : { ...fields, ...Object.fromEntries(hidden) }
}

/**
 * The fields to store, with their secrets encrypted: a secret that the write does not set is the stored one, or a
 * new one. `made` has the new ones as they are, which is the only time that they are shown.
 */
export function keepSecrets<F extends object>(
  scope: Vault,
  owner: Owner,
  next: F,
  before: F | null,
): { fields: F; made: Secrets } {
  const made: Record<string, string> = {}
  const kept: Record<string, unknown> = {}
  for (const [name, make] of Object.entries(owner.kind.secrets ?? {})) {
    const [given, stored] = [
      next[name as keyof F] as string | null,
      before?.[name as keyof F] as string | null,
    ]
    if (given === null) {
      if (!stored) made[name] = make()
      kept[name] = stored ?? sealSecret(scope, owner, name, made[name] ?? '')
    } else if (given !== stored) {
      const isSame = stored != null && openSecret(scope, owner, name, stored) === given
      kept[name] = isSame ? stored : sealSecret(scope, owner, name, given)
    }
  }
  return { fields: { ...next, ...kept }, made }
}

/** New secrets for a resource, encrypted. */
export const newSecrets = (scope: Vault, owner: Owner): Secrets =>
  Object.fromEntries(
    Object.entries(owner.kind.secrets ?? {}).map(([name, make]) => [
      name,
      sealSecret(scope, owner, name, make()),
    ]),
  )

const placeOf = ({ kind, baseId, id }: Owner, field: string): readonly string[] => [
  kind.name,
  baseId,
  id,
  field,
]

/** Encrypts a secret for a field of its resource. */
export const sealSecret = ({ vault }: Vault, owner: Owner, field: string, secret: string): string =>
  vault.seal(placeOf(owner, field), secret)

/** Opens a stored secret; undefined if this process does not have its key. */
export const openSecret = (
  { vault }: Vault,
  owner: Owner,
  field: string,
  sealed: string,
): string | undefined => vault.open(placeOf(owner, field), sealed)

/** The secrets that a definition sets, in the names of the wire. */
export const secretsSetBy = ({ secrets }: OfKind, definition: Definition): Definition =>
  Object.fromEntries(
    Object.keys(secrets ?? {})
      .map(toSnake)
      .filter((name) => (definition[name] ?? REDACTED) !== REDACTED)
      .map((name) => [name, definition[name]]),
  )

/** Whether the value of a field is a placeholder for a stored or new secret. */
export const isRedacted = ({ secrets }: OfKind, field: string, value: unknown): boolean =>
  value === REDACTED && secrets !== undefined && field in secrets
