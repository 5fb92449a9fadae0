/** The schemas of bases, kept by what is seen, and their texts. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
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

export type SchemaText = { readonly text: string; readonly etag: string }

const texts = new LRUCache<string, SchemaText>({
  maxSize: LIMITS.typedSchemaTextChars,
  sizeCalculation: ({ text }) => text.length,
})
const writing = new Map<string, Promise<SchemaText>>()

/** The text of a schema. Requests for the same one share the work. */
export function textOf(seen: SeenBase): Promise<SchemaText> {
  const known = texts.get(seen.key)
  if (known) return Promise.resolve(known)
  const running = writing.get(seen.key) ?? write(seen)
  writing.set(seen.key, running)
  return running
}

async function write(seen: SeenBase): Promise<SchemaText> {
  try {
    const text = await schemaText(seen)
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
    const made = { text, etag }
    texts.set(seen.key, made)
    return made
  } finally {
    writing.delete(seen.key)
  }
}
