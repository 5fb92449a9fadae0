/** What a token sees of a base: its record types, their properties and relationships, under their names in GraphQL. */
import { digest } from '../../contract/canonical-hash.ts'
import type { NamedType } from '../../engine/configuration/record-types/index.ts'
import {
  mayReadRelationships,
  relationshipTypesOf,
} from '../../engine/configuration/relationship-types/index.ts'
import type { Scope } from '../../engine/engine.ts'
import {
  type CompiledRelationshipType,
  hasOneSource,
  hasOneTarget,
  isAmong,
} from '../../engine/schema/compiled-types/compiled-relationship-type.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { shapeOf } from '../../schema-shape/read.ts'
import { accessibleTypes, rightsOnTypes } from '../accessible-types.ts'
import { type Context, requireBase } from '../context.ts'
import {
  linkNames,
  mutationNames,
  type Property,
  propertiesOf,
  sourceFieldNames,
  VERBS,
  type Verb,
} from './names.ts'

/** A relationship type from one of its ends, and its field. */
export type LinkView = {
  readonly field: string
  readonly relType: string
  readonly incoming: boolean
  /** Whether a record has at most one such link. */
  readonly isOne: boolean
  /** Whether mutations may write such links. */
  readonly linkable: boolean
  /** The only type at the far end; null if there may be several. */
  readonly far: TypeView | null
}
/** What the fields of a relationship type follow from. */
export type LinkRule = Pick<
  CompiledRelationshipType,
  'baseId' | 'id' | 'sourceRecordTypes' | 'targetRecordTypes' | 'cardinality'
>
/** The root fields that read. */
const READS = ['get', 'list', 'aggregate'] as const
export type Read = (typeof READS)[number]
export type TypeView = {
  readonly id: string
  /** `Ticket`, and `ticket` for root fields. */
  readonly name: string
  readonly root: string
  readonly description: string | null
  /** What the token may read of it at the root, and write. */
  readonly reads: ReadonlySet<Read>
  readonly verbs: readonly Verb[]
  readonly writable: boolean
  /** Whether the token may write links of its records: at an endpoint, also of a type without mutations. */
  readonly hasLinkRights: boolean
  /**
   * What the token may read of their changes: the entries of the log, past ones included, or that one happens now.
   * Null under a row or field policy, since a change shows more than it may see.
   */
  readonly changes: 'entries' | 'events' | null
  /** Its versions: `visible` are those that a row or field policy leaves. */
  readonly history: 'all' | 'visible' | null
  /** Whether the token may read the attachments of its records. */
  readonly attachments: boolean
  /** Names of its external sources. None under a row or field policy, which sources do not apply. */
  readonly sources: readonly string[]
  readonly properties: readonly Property[]
  readonly links: ReadonlyMap<string, LinkView>
}
export type BaseView = {
  readonly base: string
  /** Identifies what is seen. */
  readonly key: string
  readonly undo: boolean
  readonly types: ReadonlyMap<string, TypeView>
  /** By name in GraphQL. */
  readonly byName: ReadonlyMap<string, TypeView>
}

/**
 * The base as the token sees it, or, in the context of an endpoint, what the endpoint offers. Its types are read from
 * their schemas when they are asked for.
 * @throws FORBIDDEN without a grant on types of the base; NOT_FOUND if it does not exist
 */
export async function baseView(
  context: Context,
  base: string,
  offer: Offer | null = null,
): Promise<{ key: string; make: () => BaseView }> {
  if (!offer) await requireBase(context, base)
  const { scope } = context
  const [{ types, rights }, links] = await Promise.all([
    accessibleTypes(scope, base, PLACE),
    relationshipTypesOf(scope, base),
  ])
  const seen = JSON.stringify([base, rights, offer?.stamp, scope.policy?.name, isOfDrafts(scope)])
  const key = [stampOf(types), stampOf(links), seen.length > MOST_KEY_CHARS ? digest(seen) : seen].join(' ')
  // What is only proposed is taken back by discarding it.
  const mayUndo = offer?.undo === true && !isOfDrafts(scope)
  return {
    key,
    make: () => see(base, key, mayUndo, types, visibilityOf(scope, base, [...links.values()], offer)),
  }
}

/** A part of the base as the token sees it, outside of endpoints: the given types, linked by the given ones. */
export const partialBaseView = (
  scope: Scope,
  base: string,
  types: ReadonlyMap<string, NamedType>,
  links: readonly LinkRule[],
): BaseView => see(base, '', false, types, visibilityOf(scope, base, links, null))

/** A change-set has records and relationships, but none of their past, attachments and claims. */
const isOfDrafts = ({ changeSet }: Scope): boolean => changeSet !== undefined
const NOT_OF_DRAFTS = new Set<string>(['attach', 'claim', 'complete', 'release'] satisfies Verb[])

function visibilityOf(
  scope: Scope,
  base: string,
  links: readonly LinkRule[],
  offer: Offer | null,
): Visibility {
  const { access, isReadable: mayRead, isWritable } = rightsOnTypes(scope, base)
  const isReadable = (id: string) => mayRead(id) && (!offer || offer.types.has(id))
  const isWhole = (id: string) => scope.access.allows('read', base, id)
  const offered = (id: string) => (!offer ? 'entries' : offer.followed.has(id) ? 'events' : null)
  const ofDrafts = isOfDrafts(scope)
  const visible = new Map([...(scope.policy?.types ?? [])].map(([id, bounds]) => [id, bounds.visible]))
  return {
    links,
    isReadable,
    isWritable,
    mayUse: (id, operation) =>
      (!offer || offer.types.get(id)?.has(operation) === true) &&
      (!ofDrafts || !NOT_OF_DRAFTS.has(operation)),
    isWhole,
    changesOf: (id) => (isReadable(id) && isWhole(id) && !ofDrafts ? offered(id) : null),
    historyOf: (id) => {
      if (ofDrafts) return null
      const isOffered = !offer || offer.types.get(id)?.has('history')
      return isWhole(id)
        ? isOffered
          ? 'all'
          : null
        : isOffered && scope.policy?.types.has(id)
          ? 'visible'
          : null
    },
    hasAttachments: (id) =>
      !ofDrafts &&
      (!offer || offer.types.get(id)?.has('attachments') === true) &&
      (isWhole(id) || scope.policy?.types.get(id)?.attachments === true),
    isVisible: (id, property) => visible.get(id)?.includes(property) !== false,
    mayLink: (relType) => !offer || offer.linkTypes.has(relType),
    mayFollow: (link) => mayReadRelationships(access, link) && (!offer || offer.relTypes.has(link.id)),
  }
}

/**
 * Reads the types that a query may name, in turns: a validation that met them would read all in one pass of the
 * event loop.
 */
export async function readTypes({ types }: BaseView, query: string): Promise<void> {
  const names = new Set(query.match(/[A-Za-z_]\w*/g))
  const isNamed = (type: TypeView) =>
    [
      type.name,
      type.root,
      `${type.root}Records`,
      `${type.root}Aggregate`,
      `${type.root}Changes`,
      ...sourceFieldNames(type),
      ...mutationNames(type),
    ].some((each) => names.has(each))
  const due = new Set([...types.values()].filter(isNamed))
  for (const type of due) {
    if (turnIsOver()) await nextTurn()
    for (const [field, { far }] of type.links) if (far && names.has(field)) due.add(far)
  }
}

/** What an endpoint offers: operations by record type, and relationship types to follow. */
export type Offer = {
  readonly stamp: string
  /** Whether callers may take back what they did. */
  readonly undo: boolean
  readonly types: ReadonlyMap<string, ReadonlySet<string>>
  /** Record types whose records can be subscribed to. */
  readonly followed: ReadonlySet<string>
  readonly relTypes: ReadonlySet<string>
  /** Relationship types whose links can be written. */
  readonly linkTypes: ReadonlySet<string>
}

/** What the token may see and do, by record type and relationship type. */
type Visibility = {
  links: readonly LinkRule[]
  isReadable: (recordType: string) => boolean
  isWritable: (recordType: string) => boolean
  /** Whether the address has the operation on the type. */
  mayUse: (recordType: string, operation: string) => boolean
  /** Whether no row or field policy restricts it. */
  isWhole: (recordType: string) => boolean
  changesOf: (recordType: string) => TypeView['changes']
  historyOf: (recordType: string) => TypeView['history']
  hasAttachments: (recordType: string) => boolean
  isVisible: (recordType: string, property: string) => boolean
  mayLink: (relType: string) => boolean
  mayFollow: (link: LinkRule) => boolean
}

function see(
  base: string,
  key: string,
  undo: boolean,
  all: ReadonlyMap<string, NamedType>,
  visibility: Visibility,
): BaseView {
  const types = new Map<string, TypeView>()
  for (const type of all.values())
    if (visibility.isReadable(type.id)) types.set(type.id, typeOf(type, types, visibility))
  return { base, key, undo, types, byName: new Map([...types.values()].map((type) => [type.name, type])) }
}

function typeOf(type: NamedType, types: ReadonlyMap<string, TypeView>, visibility: Visibility): TypeView {
  let links: ReadonlyMap<string, LinkView> | undefined
  let shown: readonly Property[] | undefined
  const { id, graphqlName: name, description } = type
  const verbs = visibility.isWritable(id) ? VERBS.filter((verb) => visibility.mayUse(id, verb)) : []
  return {
    ...{
      id,
      name,
      description,
      verbs,
      writable: verbs.length > 0,
      hasLinkRights: visibility.isWritable(id),
      changes: visibility.changesOf(id),
      history: visibility.historyOf(id),
      attachments: visibility.hasAttachments(id),
    },
    sources: visibility.isWhole(id) ? type.sources : [],
    reads: new Set(READS.filter((read) => visibility.mayUse(id, read))),
    root: name.charAt(0).toLowerCase() + name.slice(1),
    get properties() {
      shown ??= propertiesOfType(type).filter((property) => visibility.isVisible(id, property.name))
      return shown
    },
    get links() {
      links ??= new Map(
        linksOf(id, propertiesOfType(type), types, visibility).map((link) => [link.field, link]),
      )
      return links
    },
  }
}

/** The properties of a type, shared by all tokens. */
const properties = new WeakMap<NamedType, readonly Property[]>()

function propertiesOfType(type: NamedType): readonly Property[] {
  const made = properties.get(type) ?? propertiesOf(shapeOf(JSON.parse(type.schemaText)))
  properties.set(type, made)
  return made
}

/** Named on the whole configuration, whatever the token sees of it, so that clients fit all grants. */
function linksOf(
  id: string,
  own: readonly Property[],
  types: ReadonlyMap<string, TypeView>,
  { links, isReadable, mayFollow, mayLink }: Visibility,
): LinkView[] {
  const outgoing = links.filter(({ sourceRecordTypes }) => isAmong(id, sourceRecordTypes))
  const incoming = links.filter(({ targetRecordTypes }) => isAmong(id, targetRecordTypes))
  const names = linkNames(
    own.map(({ field }) => field),
    outgoing.map((link) => link.id),
    incoming.map((link) => link.id),
  )
  const isSeen = (ends: readonly string[]) => ends.includes('*') || ends.some(isReadable)
  const farOf = ([only, ...others]: readonly string[]) =>
    only !== undefined && only !== '*' && others.length === 0 ? (types.get(only) ?? null) : null
  const toField = (link: LinkRule, isIncoming: boolean): LinkView[] => {
    const ends = isIncoming ? link.sourceRecordTypes : link.targetRecordTypes
    const field = (isIncoming ? names.incoming : names.outgoing).get(link.id)
    if (field === undefined || !mayFollow(link) || !isSeen(ends)) return []
    const isOne = isIncoming ? hasOneSource(link.cardinality) : hasOneTarget(link.cardinality)
    // The only type at the end may not exist any more.
    const far = farOf(ends)
    if (far === null && ends.length === 1 && ends[0] !== '*') return []
    return [{ field, relType: link.id, incoming: isIncoming, isOne, linkable: mayLink(link.id), far }]
  }
  return [
    ...outgoing.flatMap((link) => toField(link, false)),
    ...incoming.flatMap((link) => toField(link, true)),
  ]
}

/** What is described, where its base is named, and what serves a base that is too large. */
const PLACE = { what: 'a GraphQL schema', path: 'path/base', instead: '/graphql' }

/** Grants on single types can be longer. */
const MOST_KEY_CHARS = 256

const stamps = new WeakMap<object, number>()
let stamped = 0

/** A number for an object that is replaced when it changes. */
function stampOf(loaded: object): number {
  const known = stamps.get(loaded) ?? ++stamped
  stamps.set(loaded, known)
  return known
}
