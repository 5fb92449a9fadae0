/** GraphQL query for the schemas of all record types of a base that the token may read. */
import { digest, digestInTurns } from '../contract/canonical-hash.ts'
import type { NamedType } from '../engine/configuration/record-types/index.ts'
import { accessibleTypes } from './accessible-types.ts'
import { builder } from './builder.ts'
import { requireBase } from './context.ts'

type Visible = NamedType & { readonly writable: boolean }
type VisibleTypes = { readonly key: string; readonly types: () => readonly Visible[] }

const VisibleType = builder.objectRef<Visible>('VisibleType').implement({
  fields: (t) => ({
    id: t.exposeString('id'),
    graphqlName: t.exposeString('graphqlName'),
    description: t.exposeString('description', { nullable: true }),
    schemaText: t.exposeString('schemaText', { description: 'The JSON Schema, as JSON text.' }),
    writable: t.exposeBoolean('writable', { description: 'Whether the token may write its records.' }),
  }),
})

const VisibleTypesRef = builder.objectRef<VisibleTypes>('VisibleTypes').implement({
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The same for the same types and permissions.' }),
    types: t.field({ type: [VisibleType], description: 'By id.', resolve: ({ types }) => types() }),
  }),
})

builder.queryFields((t) => ({
  visibleTypes: t.field({
    type: VisibleTypesRef,
    description: 'All record types of a base that the token may read, with their schemas.',
    args: { base: t.arg.string({ required: true }) },
    resolve: async (_root, { base }, context): Promise<VisibleTypes> => {
      await requireBase(context, base)
      const { types: all, isReadable, isWritable, rights } = await accessibleTypes(context.scope, base, PLACE)
      const types = (): Visible[] =>
        [...all.values()]
          .filter(({ id }) => isReadable(id))
          .map((type) => ({ ...type, writable: isWritable(type.id) }))
      return { key: digest([base, await versionOf(all), rights]), types }
    },
  }),
}))

/** What is described, where its base is named, and what serves a base that is too large. */
const PLACE = { what: 'a description', path: '/base', instead: '/openapi.json' }

const versions = new WeakMap<ReadonlyMap<string, NamedType>, Promise<string>>()

/** A digest of loaded types, which are replaced when one changes. */
function versionOf(types: ReadonlyMap<string, NamedType>): Promise<string> {
  const known = versions.get(types) ?? digestInTurns([...types.values()])
  versions.set(types, known)
  return known
}
