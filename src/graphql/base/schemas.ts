/** The schemas of bases, kept by what is seen, and their texts. */

import { type GraphQLNamedType, GraphQLObjectType, printType } from 'graphql'
import { LRUCache } from 'lru-cache'
import { invalid } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type CachedText, TextCache } from '../../foundation/text-cache.ts'
import type { Context } from '../context.ts'
import { type BaseView, baseView, type Offer, type TypeView } from './base-view.ts'
import { changeFields } from './change-fields.ts'
import { baseField, LazySchema, queryFields, sharedOf } from './lazy-schema.ts'
import { mutationFields } from './mutation-fields.ts'
import { namedTypeSets, pageTypes, type TypeSets, typeSetOf } from './type-set.ts'
import { undoField } from './undo-field.ts'

const MOST_SCHEMAS = 200
const schemas = new LRUCache<string, LazySchema>({ max: MOST_SCHEMAS })

/**
 * The schema of a base for the rights of the token. Tokens that see the same share it. Before a query is validated
 * with it, `readTypes` reads the types that the query names.
 * @throws FORBIDDEN without a grant on types of the base; NOT_FOUND if it does not exist
 */
export async function schemaOf(
  context: Context,
  base: string,
  offer: Offer | null = null,
): Promise<LazySchema> {
  const see = await baseView(context, base, offer)
  const schema = schemas.get(see.key) ?? new LazySchema(see.make())
  schemas.set(see.key, schema)
  makeRoom()
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

const texts = new TextCache(LIMITS.typedSchemaTextChars)

/** The text of a schema. Requests for the same one share the work. */
export const textOf = (seen: BaseView): Promise<CachedText> => texts.of(seen.key, () => schemaText(seen))

// The schema of a base as text (SDL), written type by type, in turns.

/** Types that a printed type refers to need their names alone, so that one family is in memory at a time. */
const standIn = (seen: TypeView, none: TypeSets): ReturnType<TypeSets['of']> => {
  const object = new GraphQLObjectType({ name: seen.name, fields: {} })
  const family = typeSetOf({ ...seen, properties: [] } as TypeView, none)
  return { ...family, ...pageTypes(seen.name, object), object }
}

/** @throws VALIDATION_ERROR if it is too large */
async function schemaText(seen: BaseView): Promise<string> {
  let chars = 0
  const parts = sharedOf(seen).map(printType)
  const roots = [fieldsIn(new GraphQLObjectType({ name: 'Query', fields: baseField(seen.base) }))]
  const undo = undoField(seen) as never
  const mutations = seen.undo ? [fieldsIn(new GraphQLObjectType({ name: 'Mutation', fields: undo }))] : []
  const subscriptions: string[] = []
  const families = namedTypeSets(standIn)
  for (const type of seen.types.values()) {
    if (turnIsOver()) await nextTurn()
    const own: Iterable<GraphQLNamedType> = typeSetOf(type, families).all().values()
    const printed = [...own].map((each) => printType(each))
    const query = new GraphQLObjectType({ name: 'Query', fields: queryFields(seen, type, families) as never })
    roots.push(fieldsIn(query))
    if (type.writable)
      mutations.push(
        fieldsIn(
          new GraphQLObjectType({ name: 'Mutation', fields: mutationFields(seen, type, families) as never }),
        ),
      )
    if (type.changes)
      subscriptions.push(
        fieldsIn(
          new GraphQLObjectType({
            name: 'Subscription',
            fields: changeFields(seen, type, families) as never,
          }),
        ),
      )
    parts.push(...printed)
    chars += printed.reduce((sum, each) => sum + each.length, 0)
    if (chars > LIMITS.typedSchemaTextChars) throw tooLarge()
  }
  const whole = [...parts, rootType('Query', roots.filter(Boolean))]
  if (mutations.length > 0) whole.push(rootType('Mutation', mutations))
  if (subscriptions.length > 0) whole.push(rootType('Subscription', subscriptions))
  return `${whole.join('\n\n')}\n`
}

const rootType = (name: string, fields: readonly string[]) => `type ${name} {\n${fields.join('\n\n')}\n}`

/** The printed fields of a type, without its braces. */
const fieldsIn = (type: GraphQLObjectType): string => printType(type).split('\n').slice(1, -1).join('\n')

const tooLarge = () =>
  invalid({
    path: 'path/base',
    code: 'too_large',
    message: `The schema of the base has more than ${LIMITS.typedSchemaTextChars} characters. Use a token with grants on fewer record types.`,
    expected: LIMITS.typedSchemaTextChars,
  })
