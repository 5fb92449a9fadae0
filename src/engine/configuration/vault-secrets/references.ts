/** References to secrets in a definition: `{{secret:NAME}}`. */
import { ID_RULES, isTypeId, productionOf } from '../../../contract/ids.ts'
import { ALL_BASES, previewsOf } from '../../../contract/secret-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Db, statement } from '../../storage/database/client.ts'

export const REFERENCE = /\{\{secret:([^{}]*)\}\}/g
/** A malformed reference, such as `{{ secret:KEY }}`. */
const NEARLY = /\{\{\s*secrets?\b/i

/** The names that a text refers to. */
export const secretsIn = (text: string): string[] =>
  [...text.matchAll(REFERENCE)].map(([, name = '']) => name)

/** Whether a text refers to a secret, in any form. */
export const mentionsSecret = (text: string): boolean => NEARLY.test(text)

/** What opens a secret to a base: its id, and the word for all bases of its environment. */
export function reachesOf(baseId: string): string[] {
  const production = productionOf(baseId)
  return [baseId, production === baseId ? ALL_BASES : previewsOf(production)]
}

const OPEN_NAMES = statement(
  'open_secret_names',
  'SELECT id FROM plinth.secret WHERE id = ANY ((SELECT $1::text[])::text[]) AND bases && $2::text[]',
)

/** A text of a definition, with its path. */
type Placed = { readonly path: string; readonly text: string }

/**
 * Finds references to secrets that are not open to the base. A preview may name those of its production base, so that
 * a definition can be changed there and promoted; it does not get their values.
 */
export async function referenceFaults(db: Db, baseId: string, placed: readonly Placed[]): Promise<Detail[]> {
  const named = placed.flatMap(({ path, text }) => secretsIn(text).map((name) => ({ path, name })))
  const malformed = placed.filter(({ text }) => mentionsSecret(text.replace(REFERENCE, '')))
  const names = [...new Set(named.map(({ name }) => name))]
  const [last] = named.slice(-1)
  if (last && names.length > LIMITS.secretReferences) return [tooMany(last.path)]
  const reaches = [...reachesOf(baseId), ...reachesOf(productionOf(baseId))]
  const asked = names.filter(isTypeId)
  const rows = asked.length > 0 ? await db.query<{ id: string }>(OPEN_NAMES, [asked, reaches]) : []
  const open = new Set(rows.map(({ id }) => id))
  return [
    ...malformed.map(({ path }) => malformedAt(path)),
    ...named.filter(({ name }) => !open.has(name)).map(({ path, name }) => unknownAt(path, name)),
  ]
}

const unknownAt = (path: string, name: string): Detail => ({
  path,
  code: 'unknown_secret',
  message: isTypeId(name)
    ? `There is no secret "${name}" that is open to this base. Put it into the vault, or open it to the base.`
    : `"${name.slice(0, 64)}" is not the name of a secret: ${ID_RULES.type}.`,
})
const malformedAt = (path: string): Detail => ({
  path,
  code: 'malformed_secret',
  message: 'A reference to a secret is written {{secret:NAME}}, without spaces.',
  hint: '{{secret:NAME}}',
})
const tooMany = (path: string): Detail => ({
  path,
  code: 'too_many',
  message: `A definition can refer to at most ${LIMITS.secretReferences} secrets. Remove some references.`,
})
