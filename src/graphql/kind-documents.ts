/** The operations on a kind of configuration, made from the schema when the process starts. */
import { type DocumentNode, isObjectType, parse } from 'graphql'
import { toCamel } from '../contract/field-names.ts'
import type { DeletionFields, pageBody } from '../contract/response-bodies.ts'
import type { TadaDocumentNode } from './document.ts'
import { schema } from './schema.ts'

type Operation<Result> = TadaDocumentNode<Result, Readonly<Record<string, unknown>>>
type Found = Record<string, unknown>
type Written = Found & { operation?: string | null; warnings?: string[] | null }
type Gone = { id: string; deleted: boolean; dry_run: boolean | null; deletion?: DeletionFields | null }

/** What a write says besides the resource, if the kind has it. */
const OUTCOME = ['operation', 'warnings', 'records_rewritten', 'dry_run']

/**
 * Documents that list, get, put, patch and delete. They alias their results to `page`, `found`, `written` and `gone`,
 * and their fields to the names of REST.
 * @param kind in the form `inbound_webhook`
 * @param fields in the names of REST
 * @param deletion a fragment `DeletionParts`, if a deletion says what it deletes
 */
export function kindDocuments(kind: string, fields: readonly string[], deletion?: DocumentNode) {
  const [one, name] = [toCamel(kind), toCamel(`_${kind}`)]
  const type = schema.getType(name)
  const has = isObjectType(type) ? type.getFields() : {}
  const found = aliased(fields)
  const written = `${found} ${aliased(OUTCOME.filter((each) => Object.hasOwn(has, toCamel(each))))}`
  const gone = `id deleted dry_run: dryRun ${deletion ? 'deletion { ...DeletionParts }' : ''}`
  const remove = operationOn<{ gone: Gone }>(`delete${name}`, 'gone', gone)
  return {
    list: operationOn<{ page: Parameters<typeof pageBody<Found>>[0] }>(
      `${one}s`,
      'page',
      `data { ${found} } hasMore truncated limit offset total nextCursor`,
    ),
    get: operationOn<{ found: Found }>(one, 'found', found),
    put: operationOn<{ written: Written }>(`put${name}`, 'written', written),
    patch: operationOn<{ written: Written }>(`patch${name}`, 'written', written),
    rotate: () => operationOn<{ written: Written }>(`rotate${name}Secret`, 'written', written),
    remove: { ...remove, definitions: [...remove.definitions, ...(deletion?.definitions ?? [])] },
  }
}

const aliased = (names: readonly string[]): string =>
  names.map((name) => `${name}: ${toCamel(name)}`).join(' ')

/** An operation on a root field, each argument of which is a variable of its name. */
function operationOn<Result>(field: string, alias: string, selection: string): Operation<Result> {
  const query = schema.getQueryType()?.getFields()[field]
  const root = query ?? schema.getMutationType()?.getFields()[field]
  if (!root) throw new Error(`The schema has no ${field}`)
  const variables = root.args.map(({ name, type }) => `$${name}: ${type}`)
  const args = root.args.map(({ name }) => `${name}: $${name}`)
  const text = `${query ? 'query' : 'mutation'} ${field}(${variables}) { ${alias}: ${field}(${args}) { ${selection} } }`
  return parse(text, { noLocation: true }) as Operation<Result>
}
