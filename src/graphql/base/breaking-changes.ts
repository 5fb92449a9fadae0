/**
 * What changes of types break for clients that were generated from the schema of the base, as the token sees it:
 * compares the types of the record types concerned, before and after.
 */
import { isDeepStrictEqual } from 'node:util'
import { BreakingChangeType, findBreakingChanges, type GraphQLNamedType, GraphQLSchema } from 'graphql'
import { type NamedType, someTypesOfBase } from '../../engine/configuration/record-types/index.ts'
import { relationshipTypesOf } from '../../engine/configuration/relationship-types/index.ts'
import { rightsOf } from '../../engine/core/row-policy/apply.ts'
import type { ClientBreaks, TypeEdit } from '../../engine/core/scope.ts'
import type { Scope } from '../../engine/engine.ts'
import { isAmong } from '../../engine/schema/compiled-types/compiled-relationship-type.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { type LinkRule, type LinkView, partialBaseView, type TypeView } from './base-view.ts'
import { namedTypeSets, typeSetOf } from './type-set.ts'

/** Record types that are compared, and breaks that the warning names. */
const MOST = { types: 50, breaks: 8 }

type Edited<F> = { readonly id: string; readonly before: F | null; readonly next: F | null }
type TypeFields = { readonly jsonSchema: unknown }
type Links = readonly LinkRule[]

export const breakingChanges: ClientBreaks = async (scope, baseId, edits) => {
  const types = (edits.filter(({ kind }) => kind === 'record_type') as Edited<TypeFields>[]).filter(
    ({ before, next }) => before && next && !isDeepStrictEqual(before.jsonSchema, next.jsonSchema),
  )
  const linkEdits = edits.filter(({ kind }) => kind === 'relationship_type')
  if (types.length + linkEdits.length === 0) return []
  const links = await linksAround(scope, baseId, linkEdits)
  const ids = new Set([...types.map(({ id }) => id), ...links.ends])
  const concerned = await someTypesOfBase(scope, baseId, {
    ids: readable(scope, baseId, ids.has('*') ? null : ids),
    withSchema: true,
    limit: MOST.types,
  })
  const far = await farTypes(scope, baseId, concerned, [...links.before, ...links.after])
  const found: string[] = []
  for (const type of concerned) {
    if (turnIsOver()) await nextTurn()
    const edit = types.find(({ id }) => id === type.id)
    const at = (schema: unknown): NamedType => (edit ? { ...type, schemaText: JSON.stringify(schema) } : type)
    const was = viewOf(scope, baseId, at(edit?.before?.jsonSchema), far, links.before)
    const is = viewOf(scope, baseId, at(edit?.next?.jsonSchema), far, links.after)
    if (edit || !keepsLinks(was, is)) found.push(...breaksBetween(typesOf(was), typesOf(is)))
  }
  return found.length > 0 ? [warning(baseId, found)] : []
}

/** Those that the token may read; `ids` is null for all, and so is the result. */
function readable(scope: Scope, baseId: string, ids: ReadonlySet<string> | null): string[] | null {
  const seen = rightsOf(scope).types('read', baseId)
  if (ids === null) return seen === '*' ? null : [...seen]
  return [...ids].filter((id) => seen === '*' || seen.has(id))
}

/** The relationship types of the base before and after, and the record types whose fields a change of them can move. */
async function linksAround(
  scope: Scope,
  baseId: string,
  edits: readonly TypeEdit[],
): Promise<{ before: Links; after: Links; ends: ReadonlySet<string> }> {
  const stored: ReadonlyMap<string, LinkRule> = await relationshipTypesOf(scope, baseId)
  const [before, after] = [new Map(stored), new Map(stored)]
  const ends = new Set<string>()
  for (const { id, before: was, next: is } of edits) {
    const ofEdit = [
      { all: before, fields: was },
      { all: after, fields: is },
    ]
    const rules = ofEdit.map(({ fields }) => fields && ruleOf(baseId, id, fields as LinkRule))
    for (const [n, { all }] of ofEdit.entries()) {
      const rule = rules[n]
      if (rule) all.set(id, rule)
      else all.delete(id)
    }
    if (isDeepStrictEqual(rules[0], rules[1])) continue
    for (const rule of rules)
      for (const end of [...(rule?.sourceRecordTypes ?? []), ...(rule?.targetRecordTypes ?? [])])
        ends.add(end)
  }
  return { before: sorted(before), after: sorted(after), ends }
}

const ruleOf = (
  baseId: string,
  id: string,
  { sourceRecordTypes, targetRecordTypes, cardinality }: LinkRule,
): LinkRule => ({ baseId, id, sourceRecordTypes, targetRecordTypes, cardinality })

const sorted = (links: ReadonlyMap<string, LinkRule>): Links =>
  [...links.values()].sort((one, other) => (one.id < other.id ? -1 : 1))

/** The types at the other ends, by their names alone. */
async function farTypes(
  scope: Scope,
  baseId: string,
  concerned: readonly NamedType[],
  links: Links,
): Promise<ReadonlyMap<string, NamedType>> {
  const isConcerned = (ends: readonly string[]) => concerned.some(({ id }) => isAmong(id, ends))
  const ids = links.flatMap(({ sourceRecordTypes: sources, targetRecordTypes: targets }) => [
    ...(isConcerned(sources) ? targets : []),
    ...(isConcerned(targets) ? sources : []),
  ])
  const wanted = readable(scope, baseId, new Set(ids)) ?? []
  const found = await someTypesOfBase(scope, baseId, {
    ids: wanted,
    withSchema: false,
    limit: wanted.length,
  })
  return new Map(found.map((type) => [type.id, type]))
}

/** One record type as the token sees it; those of others are there by name. */
const viewOf = (
  scope: Scope,
  baseId: string,
  type: NamedType,
  far: ReadonlyMap<string, NamedType>,
  links: Links,
): TypeView | undefined =>
  partialBaseView(scope, baseId, new Map([...far, [type.id, type]]), links).types.get(type.id)

/** Whether each link has the field that it had. Links that are new break nothing, and making the types takes long. */
function keepsLinks(was: TypeView | undefined, is: TypeView | undefined): boolean {
  const flat = (link: LinkView | undefined) => link && { ...link, far: link.far?.name }
  return [...(was?.links ?? [])].every(([field, link]) =>
    isDeepStrictEqual(flat(link), flat(is?.links.get(field))),
  )
}

/** The GraphQL types of a record type. */
function typesOf(seen: TypeView | undefined): PartialSchema {
  if (!seen) return new PartialSchema(new Map())
  const families = namedTypeSets((other, none) => typeSetOf(nameOnly(other), none))
  return new PartialSchema(typeSetOf(seen, families).all())
}

const nameOnly = ({ id, name, root }: TypeView): TypeView => ({
  ...{ id, name, root, description: null, writable: false, hasLinkRights: false, changes: null },
  ...{ history: null, attachments: false },
  reads: new Set(),
  sources: [],
  verbs: [],
  properties: [],
  links: new Map(),
})

/** Some types, as a schema to compare. */
class PartialSchema extends GraphQLSchema {
  readonly #types: ReadonlyMap<string, GraphQLNamedType>

  constructor(types: ReadonlyMap<string, GraphQLNamedType>) {
    super({})
    this.#types = types
  }

  override getTypeMap() {
    return Object.fromEntries(this.#types)
  }

  override getDirectives() {
    return []
  }
}

const DERIVED = /(_(Where|ManyWhere|Sort|Input|Patch|Group|Filter|Links|SourceRecord)|Aggregate(_\w+)?)$/
const TYPE_GONE: readonly string[] = [
  BreakingChangeType.TYPE_REMOVED,
  BreakingChangeType.TYPE_CHANGED_KIND,
  BreakingChangeType.IMPLEMENTED_INTERFACE_REMOVED,
]

/** The breaks, each once: what an object loses is lost by its filters, sorts and inputs too. */
function breaksBetween(was: PartialSchema, is: PartialSchema): string[] {
  const found = findBreakingChanges(was, is).map(({ type, description }) => {
    const [, owner = '', field] = /^(\w+)\.(\w+)/.exec(description) ?? []
    const stem = owner.replace(/_(Input|Patch)__/, '__').replace(DERIVED, '')
    const rank = TYPE_GONE.includes(type) ? 3 : type.includes('ARG') ? 2 : stem === owner ? 0 : 1
    return { rank, subject: field === undefined ? description : `${stem}.${field}`, description }
  })
  found.sort((one, other) => one.rank - other.rank)
  const own = found.filter(({ rank }, _n, all) => rank < 3 || all[0]?.rank === 3)
  return [...Map.groupBy(own, ({ subject }) => subject).values()].flatMap(([first]) =>
    first ? [first.description] : [],
  )
}

function warning(baseId: string, breaks: readonly string[]): string {
  const more = breaks.length - MOST.breaks
  const listed = breaks.slice(0, MOST.breaks).join(' ')
  return `Clients that were generated from the schema of /graphql/${baseId} may break: ${listed}${more > 0 ? ` And ${more} more.` : ''}`
}
