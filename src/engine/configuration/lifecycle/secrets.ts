/** Secret fields of a kind: hidden wherever its resources are shown, kept where a write does not set them. */
import { toSnake } from '../../../contract/field-names.ts'
import type { Kind } from './kind.ts'

/** Stands for a secret. In a write, it keeps the stored one. */
export const REDACTED = '<redacted>'

type OfKind = Pick<Kind, 'secrets'>
type Definition = Readonly<Record<string, unknown>>

/** The fields without their secrets. */
export function redact<F extends object>({ secrets }: OfKind, fields: F): F {
  const hidden = Object.keys(secrets ?? {}).map((name) => [name, REDACTED])
  return hidden.length === 0 ? fields : { ...fields, ...Object.fromEntries(hidden) }
}

/** The fields to store: a secret that the write does not set is the stored one, or a new one. */
export function keepSecrets<F extends object>({ secrets }: OfKind, next: F, before: F | null): F {
  const kept = Object.entries(secrets ?? {}).flatMap(([name, make]) => {
    const at = name as keyof F
    return next[at] === null ? [[name, before?.[at] ?? make()]] : []
  })
  return kept.length === 0 ? next : { ...next, ...Object.fromEntries(kept) }
}

/** New secrets for a resource, by field. */
export const newSecrets = ({ secrets }: OfKind): Record<string, string> =>
  Object.fromEntries(Object.entries(secrets ?? {}).map(([name, make]) => [name, make()]))

/** The secrets that a definition sets, in the names of the wire. */
export const secretsSetBy = ({ secrets }: OfKind, definition: Definition): Definition =>
  Object.fromEntries(
    Object.keys(secrets ?? {})
      .map(toSnake)
      .filter((name) => (definition[name] ?? REDACTED) !== REDACTED)
      .map((name) => [name, definition[name]]),
  )

/** Whether the value of a field stands for a stored or new secret. */
export const isRedacted = ({ secrets }: OfKind, field: string, value: unknown): boolean =>
  value === REDACTED && secrets !== undefined && field in secrets
