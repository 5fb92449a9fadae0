/** The schemas of bases, kept by what is seen, and their texts. */
import { LRUCache } from 'lru-cache'
import { type KeptText, KeptTexts } from '../../foundation/kept-texts.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../context.ts'
import { LazySchema } from './lazy-schema.ts'
import { schemaText } from './schema-text.ts'
import { type Offer, readTypes, type SeenBase, seenBase } from './seen.ts'

const MOST_SCHEMAS = 200
const schemas = new LRUCache<string, LazySchema>({ max: MOST_SCHEMAS })

/**
 * The schema of a base for the rights of the token, ready for the text of a query. Tokens that see the same share
 * it.
 * @throws FORBIDDEN without a grant on types of the base; NOT_FOUND if it does not exist
 */
export async function schemaOf(
  context: Context,
  base: string,
  query = '',
  offer: Offer | null = null,
): Promise<LazySchema> {
  const see = await seenBase(context, base, offer)
  const schema = schemas.get(see.key) ?? new LazySchema(see.make())
  schemas.set(see.key, schema)
  makeRoom()
  await readTypes(schema.seen, query)
  return schema
}

/** Schemas grow with the types that queries name. The least used are dropped, and made again when needed. */
function makeRoom(): void {
  let fields = 0
  for (const [key, schema] of schemas.entries()) {
    fields += schema.fields
    if (fields > LIMITS.typedSchemaFields) schemas.delete(key)
  }
}

const texts = new KeptTexts(LIMITS.typedSchemaTextChars)

/** The text of a schema. Requests for the same one share the work. */
export const textOf = (seen: SeenBase): Promise<KeptText> => texts.of(seen.key, () => schemaText(seen))
