/**
 * The schema of a base, made as far as a query needs it. The constructor of a GraphQL schema walks all types,
 * which for 300 record types takes half a second and 50 MB; this one makes the types of a record type when a
 * query names it.
 */
import {
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLFieldConfigMap,
  type GraphQLFieldMap,
  GraphQLID,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  specifiedScalarTypes,
} from 'graphql'
import type { Context } from '../context.ts'
import { Interval, Over } from './aggregate-types.ts'
import { Attachment, ClaimType } from './attachment-types.ts'
import type { BaseView, TypeView } from './base-view.ts'
import { changeFields } from './change-fields.ts'
import { Actor, changesName, Operation } from './change-types.ts'
import { mutationFields } from './mutation-fields.ts'
import { mutationNames, sourceFieldNames } from './names.ts'
import { OF_MUTATIONS } from './payload-type.ts'
import { Version } from './read-history.ts'
import { rootFields, rootNames } from './root-fields.ts'
import {
  AnyRecord,
  DateScalar,
  DateTimeScalar,
  Direction,
  JsonScalar,
  PageInfo,
  Status,
} from './shared-types.ts'
import { sourceFields } from './source-fields.ts'
import { ANY_PAGE, type TypeSet, type TypeSets, typeSetOf } from './type-set.ts'
import { UndoType, undoField } from './undo-field.ts'
import { FILTERS } from './where-types.ts'

/** Types of entries of the log. */
const OF_ENTRIES: readonly GraphQLNamedType[] = [Actor, Version]

/** Types that do not belong to one record type. */
const SHARED: readonly GraphQLNamedType[] = [
  DateTimeScalar,
  DateScalar,
  JsonScalar,
  Status,
  Direction,
  AnyRecord,
  PageInfo,
  ANY_PAGE.connection,
  ANY_PAGE.edge,
  ...FILTERS,
  Interval,
  Over,
]

/** Those of the schema. Without mutations and changes it has none of their types. */
export function sharedOf({ types, undo }: BaseView): readonly GraphQLNamedType[] {
  const all = [...types.values()]
  return [
    ...SHARED,
    ...(all.some(({ changes, history }) => changes || history) ? [Operation] : []),
    ...(all.some(({ history }) => history) ? OF_ENTRIES : []),
    ...(all.some(({ attachments, verbs }) => attachments || verbs.includes('attach')) ? [Attachment] : []),
    ...(all.some(({ writable }) => writable) ? [ClaimType] : []),
    ...(undo ? [UndoType] : []),
    ...(all.some(({ writable }) => writable) ? OF_MUTATIONS : []),
  ]
}

/** The root fields that read a type. */
export const queryFields = (seen: BaseView, type: TypeView, families: TypeSets) => ({
  ...rootFields(seen, type, families),
  ...sourceFields(seen, type, families),
})

/** Root fields by name. Those of a record type are made when one of them is asked for. */
function lazyFields(
  owners: ReadonlyMap<string, TypeView>,
  make: (type: TypeView) => GraphQLFieldConfigMap<unknown, Context>,
  others: GraphQLFieldConfigMap<unknown, Context> = {},
): GraphQLFieldMap<unknown, Context> {
  const made = new Map<string, GraphQLField<unknown, Context>>()
  const add = (fields: GraphQLFieldConfigMap<unknown, Context>) => {
    const holder = new GraphQLObjectType<unknown, Context>({ name: 'Root', fields })
    for (const field of Object.values(holder.getFields())) made.set(field.name, field)
  }
  add(others)
  const get = (name: string | symbol) => {
    const owner = typeof name === 'string' ? owners.get(name) : undefined
    if (owner && !made.has(name as string)) add(make(owner))
    return made.get(name as string)
  }
  const has = (name: string | symbol) => owners.has(name as string) || made.has(name as string)
  return new Proxy({} as GraphQLFieldMap<unknown, Context>, {
    get: (_target, name) => get(name),
    has: (_target, name) => has(name),
    ownKeys: () => [...new Set([...made.keys(), ...owners.keys()])],
    getOwnPropertyDescriptor: (_target, name) =>
      has(name) ? { configurable: true, enumerable: true, get: () => get(name) } : undefined,
  })
}

export class LazySchema extends GraphQLSchema {
  readonly seen: BaseView
  /** The fields that were built so far, a measure of its memory. */
  fields = 0
  readonly #families = new Map<string, TypeSet>()
  readonly #query: GraphQLObjectType
  readonly #mutation: GraphQLObjectType | undefined
  readonly #subscription: GraphQLObjectType | undefined
  readonly #shared: ReadonlyMap<string, GraphQLNamedType>
  readonly #lookUp: TypeSets

  constructor(seen: BaseView) {
    super({})
    this.seen = seen
    // Valid by construction. The check would walk all types.
    this.__validationErrors = []
    this.#lookUp = {
      of: (type) => this.family(type),
      built: (fields) => {
        this.fields += fields
      },
    }
    this.#query = new GraphQLObjectType({ name: 'Query', fields: {} })
    const fields = this.#queryFields()
    this.#query.getFields = () => fields
    this.#mutation = this.#mutationType()
    this.#subscription = this.#subscriptionType()
    const shared = [...sharedOf(seen), ...specifiedScalarTypes]
    this.#shared = new Map(shared.map((type) => [type.name, type]))
  }

  family(type: TypeView): TypeSet {
    const known = this.#families.get(type.id) ?? typeSetOf(type, this.#lookUp)
    this.#families.set(type.id, known)
    return known
  }

  #queryFields(): GraphQLFieldMap<unknown, Context> {
    const owners = new Map<string, TypeView>()
    for (const type of this.seen.types.values()) {
      const names = rootNames(type)
      for (const read of type.reads) owners.set(names[read], type)
      for (const name of sourceFieldNames(type)) owners.set(name, type)
    }
    const make = (type: TypeView) => queryFields(this.seen, type, this.#lookUp)
    return lazyFields(owners, make, baseField(this.seen.base))
  }

  /** Undefined if the token may write nothing. */
  #mutationType(): GraphQLObjectType | undefined {
    const owners = new Map<string, TypeView>()
    for (const type of this.seen.types.values())
      for (const name of mutationNames(type)) owners.set(name, type)
    if (owners.size === 0 && !this.seen.undo) return undefined
    const type = new GraphQLObjectType({ name: 'Mutation', fields: {} })
    const make = (each: TypeView) => mutationFields(this.seen, each, this.#lookUp)
    const fields = lazyFields(owners, make, undoField(this.seen))
    type.getFields = () => fields
    return type
  }

  /** Undefined if the token may read the changes of no type. */
  #subscriptionType(): GraphQLObjectType | undefined {
    const followed = [...this.seen.types.values()].filter(({ changes }) => changes !== null)
    if (followed.length === 0) return undefined
    const owners = new Map(followed.map((type) => [changesName(type), type]))
    const type = new GraphQLObjectType({ name: 'Subscription', fields: {} })
    const fields = lazyFields(owners, (each) => changeFields(this.seen, each, this.#lookUp))
    type.getFields = () => fields
    return type
  }

  override getQueryType() {
    return this.#query
  }

  override getMutationType() {
    return this.#mutation
  }

  override getSubscriptionType() {
    return this.#subscription
  }

  override getType(name: string): GraphQLNamedType | undefined {
    if (name === 'Query') return this.#query
    if (name === 'Mutation') return this.#mutation
    if (name === 'Subscription') return this.#subscription
    // That of the class itself asks for all types.
    return this.#shared.get(name) ?? super.getTypeMap()[name] ?? this.#ownType(name)
  }

  /** The record type that a name belongs to is its start. */
  #ownType(name: string): GraphQLNamedType | undefined {
    const start = name.split('_', 1)[0] ?? ''
    const owner =
      this.seen.byName.get(start) ?? this.seen.byName.get(start.replace(/(Connection|Edge|Aggregate)$/, ''))
    if (!owner) return undefined
    const family = this.family(owner)
    // Most queries name no type within another.
    return name === owner.name ? family.object : family.all().get(name)
  }

  override getTypeMap() {
    const own = [...this.seen.types.values()].flatMap((type) => [...this.family(type).all().values()])
    const roots = [this.#query, this.#mutation, this.#subscription].filter((root) => root !== undefined)
    const all = [...roots, ...this.#shared.values(), ...own]
    return { ...super.getTypeMap(), ...Object.fromEntries(all.map((type) => [type.name, type])) }
  }

  override isSubType(
    abstract: GraphQLAbstractType,
    maybe: GraphQLObjectType | GraphQLInterfaceType,
  ): boolean {
    return abstract.name === AnyRecord.name && this.seen.byName.has(maybe.name)
  }

  /** Only suggestions of errors ask for it, and would make all types. */
  override getPossibleTypes(_abstract: GraphQLAbstractType): readonly GraphQLObjectType[] {
    return []
  }

  override getImplementations(_interface: GraphQLInterfaceType) {
    return { objects: [], interfaces: [] }
  }
}

/** A root field that is there even if the token sees no record type: a query type must have one. */
export const baseField = (base: string): GraphQLFieldConfigMap<unknown, Context> => ({
  _base: { type: new GraphQLNonNull(GraphQLID), description: 'The id of the base.', resolve: () => base },
})
