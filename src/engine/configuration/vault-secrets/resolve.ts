/** Fills the values of secrets into requests that this server sends, at the time when it sends them. */
import { isTypeId } from '../../../contract/ids.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { Vault } from '../../storage/vault/vault.ts'
import { REFERENCE, reachesOf, secretsIn } from './references.ts'
import { placeOf } from './secret.ts'

/** The secrets that requests of a base refer to. */
export type Secrets = {
  /** @throws VALIDATION_ERROR that names a secret which is absent or not open to the base */
  valueNamed(name: string): string
  /** @throws VALIDATION_ERROR, also for a text that becomes too large */
  fill(text: string): string
  /** @throws VALIDATION_ERROR, also for a value that a header cannot have */
  fillHeaders(headers: Readonly<Record<string, string>>): Record<string, string>
  /** The values that texts refer to, to mask an answer with. */
  valuesIn(texts: readonly string[]): string[]
}

const OPEN = statement(
  'open_secrets',
  'SELECT id, value FROM plinth.secret WHERE id = ANY ((SELECT $1::text[])::text[]) AND bases && $2::text[]',
)

/** Reads the secrets that texts refer to, as far as they are open to the base. Keep them no longer than the request. */
export async function resolveSecrets(
  { db, vault }: { readonly db: Db; readonly vault: Vault },
  baseId: string,
  texts: readonly string[],
): Promise<Secrets> {
  const names = [...new Set(texts.flatMap(secretsIn))].filter(isTypeId)
  const rows =
    names.length > 0 ? await db.query<{ id: string; value: string }>(OPEN, [names, reachesOf(baseId)]) : []
  const values = new Map(rows.map(({ id, value }) => [id, vault.open(placeOf(id), value)]))
  const valueNamed = (name: string): string => {
    const value = values.get(name)
    if (value === undefined) throw cannotUse(name, baseId)
    return value
  }
  const fillUpTo = (most: number, text: string, path: string): string => {
    let length = text.length
    for (const name of secretsIn(text)) {
      length += valueNamed(name).length
      if (length > most) throw tooLarge(path, most)
    }
    return text.replace(REFERENCE, (_, name: string) => valueNamed(name))
  }
  return {
    valueNamed,
    fill: (text) => fillUpTo(LIMITS.filledChars, text, ''),
    fillHeaders: (headers) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, text]) => {
          if (secretsIn(text).length === 0) return [name, text]
          const filled = fillUpTo(LIMITS.filledHeaderChars, text, name)
          if (UNUSABLE_HEADER.test(filled)) throw unusable(name)
          return [name, filled]
        }),
      ),
    valuesIn: (named) => [...new Set(named.flatMap(secretsIn))].flatMap((name) => values.get(name) ?? []),
  }
}

const ALL_OPEN = statement(
  'all_open_secrets',
  'SELECT id, value FROM plinth.secret WHERE bases && $1::text[]',
)

/** The values of all secrets that are open to the base, to mask a text with. */
export async function valuesOpenTo(
  { db, vault }: { readonly db: Db; readonly vault: Vault },
  baseId: string,
): Promise<string[]> {
  const rows = await db.query<{ id: string; value: string }>(ALL_OPEN, [reachesOf(baseId)])
  return rows.flatMap(({ id, value }) => vault.open(placeOf(id), value) ?? [])
}

/** Besides control characters: a header is sent as Latin-1. */
const UNUSABLE_HEADER = /[^\t\x20-\x7e\x80-\xff]/

const refused = (path: string, code: string, message: string) =>
  invalid({ path, code, message: `${message} Nothing was sent.` })
const cannotUse = (name: string, baseId: string) =>
  refused(
    '',
    'unknown_secret',
    `The secret "${name.slice(0, 64)}" does not exist or is not open to base "${baseId}".`,
  )
const tooLarge = (header: string, most: number) =>
  refused(
    '',
    'too_large',
    `${header === '' ? 'A text' : `The header "${header}"`} has more than ${most} characters with its secrets.`,
  )
const unusable = (header: string) =>
  refused(
    '',
    'unusable_header',
    `A secret in the header "${header}" has characters that a header cannot have.`,
  )
