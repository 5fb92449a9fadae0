/** The links that a mutation writes with a record, by the fields of its relationships. */
import {
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql'
import type { RecordLink } from '../../engine/records/links.ts'
import { invalid, withPaths } from '../../foundation/errors.ts'
import { pointer } from '../../json/faults.ts'
import type { LinkView, TypeView } from './base-view.ts'
import { JsonScalar } from './shared-types.ts'

/** The record at the other end of a link. */
export const LinkTo = new GraphQLInputObjectType({
  name: '_LinkTo',
  description: 'The other record of a link, by its id or its external pair.',
  fields: {
    id: { type: GraphQLID },
    externalId: { type: GraphQLString },
    externalSource: { type: GraphQLString, description: 'Defaults to "default".' },
    recordType: { type: GraphQLString, description: 'Its type, if the relationship has several.' },
    data: { type: JsonScalar, description: 'The data of the link.' },
  },
})

const linksToWrite = ({ links }: TypeView): LinkView[] =>
  [...links.values()].filter(({ far, linkable }) => linkable && (far === null || far.hasLinkRights))

/** Whether mutations of the type can write links. */
export const hasLinks = (type: TypeView): boolean => linksToWrite(type).length > 0

/** Its fields are made when they are asked for. */
export const linksInputOf = (type: TypeView): GraphQLInputObjectType =>
  new GraphQLInputObjectType({
    name: `${type.name}_Links`,
    description: 'Links to add in the same transaction. Those that exist stay.',
    fields: () =>
      Object.fromEntries(
        linksToWrite(type).map(({ field, isOne }): [string, GraphQLInputFieldConfigMap[string]] => [
          field,
          { type: isOne ? LinkTo : new GraphQLList(new GraphQLNonNull(LinkTo)) },
        ]),
      ),
  })

type Other = Omit<RecordLink, 'relType' | 'direction' | 'recordType'> & { recordType?: string | null }
/** Links of a request. `explained` rewrites the paths of their errors to those of the arguments. */
type Written = { relationships: RecordLink[]; explained: (thrown: unknown) => unknown }

/** @throws VALIDATION_ERROR for a link whose record type is open */
export function toLinks(sent: object | null | undefined, type: TypeView): Written {
  const relationships: RecordLink[] = []
  const places: string[] = []
  for (const [field, value] of Object.entries(sent ?? {}) as [string, Other | Other[] | null][]) {
    const link = type.links.get(field)
    if (!link || value === null) continue
    for (const [n, other] of (Array.isArray(value) ? value : [value]).entries()) {
      const at = pointer('links', field, ...(Array.isArray(value) ? [String(n)] : []))
      const recordType = other.recordType ?? link.far?.id
      if (recordType === undefined) throw openType(`${at}/recordType`)
      relationships.push({
        ...other,
        recordType,
        relType: link.relType,
        direction: link.incoming ? 'incoming' : 'outgoing',
      })
      places.push(at)
    }
  }
  return { relationships, explained: (thrown) => explained(thrown, places) }
}

const explained = (thrown: unknown, places: readonly string[]): unknown =>
  withPaths(thrown, (path) => {
    const [, index, rest] = /^\/relationships\/(\d+)(.*)$/.exec(path) ?? []
    const place = index === undefined ? undefined : places[Number(index)]
    return place === undefined ? path : place + argumentOf(rest ?? '')
  })

/** What a link of the engine has, as the input names it. The relationship type is the field itself. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  '/rel_type': '',
  '/direction': '',
  '/record_type': '/recordType',
  '/external_id': '/externalId',
  '/external_source': '/externalSource',
}
const argumentOf = (path: string): string => ARGUMENTS[path] ?? path

const openType = (path: string) =>
  invalid({
    path,
    code: 'required',
    message: 'The relationship has several record types. Send that of the other record.',
  })
