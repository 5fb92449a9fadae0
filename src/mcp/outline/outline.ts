/** The outline of a base, in as many tokens as the instructions have left. */
import { isBuiltIn } from '../../contract/record-columns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { VersionedCache } from '../../foundation/versioned-cache.ts'
import { type Context, grantsName } from '../../graphql/context.ts'
import { graphql, type ResultOf } from '../../graphql/document.ts'
import { compile, staticOperation } from '../../graphql/execute.ts'
import { projectInTurns } from '../../schema-shape/portable-schema.ts'
import { fieldsOf, lineWithin, nameShown } from './describe-type-line.ts'
import { estimateTokens } from './llm-token-estimate.ts'

const Links = graphql(`query OutlineLinks($base: String!) {
  base(id: $base) { typesVersion createdAt }
  outlinedLinks(base: $base) { id source target cardinality onDelete }
  outlinedFileTypes(base: $base)
}`)
const readLinks = compile(Links)
const readTypes = staticOperation(`query OutlineTypes($base: String!) {
  outlinedTypes(base: $base) { types { id jsonSchema records } others total }
}`)
type Link = ResultOf<typeof Links>['outlinedLinks'][number]

/** A type with its fields in words, also with their bounds; null if its schema is too large. */
type Type = { id: string; records: number; fields: string[] | null; bounded: string[]; builtIn: string[] }
type Types = { types: Type[]; others: readonly string[]; total: number }

const cache = new VersionedCache<Types>(LIMITS.toolCacheChars, LIMITS.outlineCacheMs)

/** The outline of a base. */
export type Outline = {
  text: string
  /** Fields with the name of a column, such as `ticket.status`. */
  builtIn: readonly string[]
}

/** Writes the outline of what the token may read. `rest` says how to see what is left out. */
export async function outlineOf(
  base: string,
  context: Context,
  tokens: number,
  rest: string,
): Promise<Outline> {
  const { base: of, outlinedLinks: links, outlinedFileTypes: files } = await readLinks({ base }, context)
  const key = `${base}\n${grantsName(context)}`
  const version = `${of.createdAt}\n${of.typesVersion}`
  const types = await cache.of(key, version, async () => {
    const value = await typesOf(base, context)
    return { value, chars: JSON.stringify(value).length }
  })
  const linkLines = links.length === 0 ? '' : `\n${linksWithin(links, tokens * LINKS_SHARE)}`
  const fileLine =
    files.length === 0 ? '' : `\n${lineWithin('File types: ', files.map(nameShown), tokens * FILES_SHARE)}`
  const text = typesWithin(types, tokens - estimateTokens(linkLines + fileLine), rest)
  return { text: `${text}${linkLines}${fileLine}`, builtIn: types.types.flatMap((type) => type.builtIn) }
}

const LINKS_SHARE = 0.25
const FILES_SHARE = 0.1
const OTHERS_SHARE = 0.3

async function typesOf(base: string, context: Context): Promise<Types> {
  const { types, others, total } = (await readTypes({ base }, context)).outlinedTypes
  const described: Type[] = []
  for (const { id, jsonSchema, records } of types) {
    const projection = jsonSchema === null ? null : await projectInTurns(jsonSchema)
    const names = [...(projection?.properties.values() ?? [])]
    described.push({
      ...{ id, records },
      fields: projection && fieldsOf(projection, false),
      bounded: projection ? fieldsOf(projection, true) : [],
      builtIn: names.filter(isBuiltIn).map((name) => `${id}.${name}`),
    })
  }
  return { types: described, others, total }
}

function typesWithin({ types, others, total }: Types, tokens: number, rest: string): string {
  if (types.length === 0) return 'It has no types yet.'
  const isWhole = total === types.length
  const count = total >= LIMITS.outlineCounted ? `${LIMITS.outlineCounted}+` : total
  const title = `Types${isWhole ? '' : `, the most used of ${count}`} (records): fields. ! is required.`
  const tail = isWhole ? '' : `\n${othersWithin(others, total - types.length, tokens * OTHERS_SHARE)} ${rest}`
  const left = tokens - estimateTokens(`${title}\n${tail}`)
  const hasMore = (line: string) => /\+\d+ more$/.test(line)
  const bounded = linesWithin(
    types.map((type) => ({ ...type, fields: type.fields && type.bounded })),
    left,
  )
  // Bounds are for what the fields leave.
  const lines = bounded.some(hasMore) ? linesWithin(types, left) : bounded
  const isCut = isWhole && lines.some(hasMore)
  return [title, ...lines].join('\n') + (isCut ? `\n${rest}` : tail)
}

/** Shares the tokens: what a short line leaves is for the longer ones. */
function linesWithin(types: readonly Type[], tokens: number): string[] {
  const lines = types.map((type) => ({ head: headOf(type), fields: type.fields ?? [] }))
  const bySize = lines.toSorted((a, b) => sizeOf(a) - sizeOf(b))
  const texts = new Map<object, string>()
  let left = tokens
  for (const [index, line] of bySize.entries()) {
    const text = lineWithin(line.head, line.fields, Math.floor(left / (bySize.length - index)))
    left -= estimateTokens(text) + 1
    texts.set(line, text)
  }
  return lines.map((line) => texts.get(line) ?? '')
}

const sizeOf = ({ head, fields }: { head: string; fields: readonly string[] }) =>
  estimateTokens(head) + estimateTokens(fields.join(', '))

function headOf({ id, records, fields }: Type): string {
  const what = fields === null ? 'a large schema' : fields.length === 0 ? 'any fields' : ''
  return `${nameShown(id)} (${roughly(records)}): ${what}`
}

/** Orders of magnitude, so that the text stays the same while data changes. */
const roughly = (records: number): string =>
  records === 0 ? '0' : records < 10 ? '1+' : `${10 ** Math.floor(Math.log10(records))}+`

function othersWithin(others: readonly string[], count: number, tokens: number): string {
  const kept: string[] = []
  let left = tokens
  for (const id of others) {
    left -= estimateTokens(id) + 1
    if (left < 0) break
    kept.push(id)
  }
  const more = count - kept.length
  return `Others: ${kept.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

function linksWithin(links: readonly Link[], tokens: number): string {
  const lines = links.map(({ id, source, target, cardinality, onDelete }) => {
    const ends = [source, target].map((end) =>
      end.map((name) => (name === '*' ? 'any' : nameShown(name))).join('|'),
    )
    const ending = onDelete === 'unlink' ? '' : ` on_delete=${onDelete}`
    return `${nameShown(id)} ${ends.join(' -> ')} ${cardinality}${ending}`
  })
  return lineWithin('Relationship types: ', lines, tokens)
}
