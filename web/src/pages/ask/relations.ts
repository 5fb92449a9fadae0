/** What a statement can read, and how the word before the caret may go on. */
import type { RecordType } from '../../api/shapes.ts'

export type Relation = { name: string; columns: readonly string[] }
/** A way to go on: what it stands for, and what it is. */
export type Completion = { text: string; kind: 'relation' | 'column' | 'keyword' }

const OF_RECORDS = 'id version status external_id external_source created_at updated_at data'.split(' ')
const FIXED: readonly Relation[] = Object.entries({
  records: `record_type ${OF_RECORDS.join(' ')}`,
  relationships: 'id rel_type source_record_type source_id target_record_type target_id data created_at',
  changes:
    'seq at kind record_type id operation version data data_before changed external_id external_source status actor_name actor_kind via request_id call',
  claims: 'id record_type record_id status holder claimed_at attempts expires_at',
  calls:
    'id at token_id actor_name actor_kind via surface endpoint tool route outcome message ms bytes_in bytes_out arguments request_id changes',
  record_types: 'id name description json_schema version created_at updated_at',
  relationship_types: 'id name description cardinality version created_at updated_at',
}).map(([name, columns]) => ({ name, columns: columns.split(' ') }))

const KEYWORDS =
  'SELECT FROM WHERE GROUP BY ORDER LIMIT JOIN LEFT ON AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN HAVING DISTINCT CASE WHEN THEN ELSE END WITH UNION ALL DESC ASC count( sum( avg( min( max( date_trunc( now( interval coalesce('.split(
    ' ',
  )

/** A property with the name of a column of every record is the column `data_<name>`. */
export const relationsOf = (types: readonly RecordType[]): Relation[] => [
  ...types.map(({ id, json_schema: { properties = {} } }) => ({
    name: id,
    columns: [
      ...Object.keys(properties).map((name) => (OF_RECORDS.includes(name) ? `data_${name}` : name)),
      ...OF_RECORDS,
    ],
  })),
  ...FIXED,
]

/** The relations that a statement names, without what stands in its texts. */
export function readBy(sql: string, relations: readonly Relation[]): Relation[] {
  const named = new Set(sql.replaceAll(/'(?:[^']|'')*'|--.*/g, ' ').match(/\w+/g) ?? [])
  return relations.filter(({ name }) => named.has(name))
}

const MOST = 8

/** How the word that ends at the caret may go on: after FROM and JOIN by relations, else by columns of what is read. */
export function complete(sql: string, caret: number, relations: readonly Relation[]): Completion[] {
  const before = sql.slice(0, caret)
  const word = wordAt(before)
  if (word === '') return []
  const lower = word.toLowerCase()
  const isRelation = /\b(from|join)\s+\w*$/i.test(before)
  const read = readBy(sql.slice(0, caret - word.length) + sql.slice(caret), relations)
  const names = relations.map(({ name }) => name)
  const columns = (read.length > 0 ? read : relations.slice(0, 1)).flatMap(({ columns: all }) => all)
  const all: Completion[] = [
    ...(isRelation ? [] : columns.map((text): Completion => ({ text, kind: 'column' }))),
    ...names.map((text): Completion => ({ text, kind: 'relation' })),
    ...(isRelation ? [] : KEYWORDS.map((text): Completion => ({ text, kind: 'keyword' }))),
  ]
  const seen = new Set<string>()
  return all
    .filter(({ text }) => {
      const isNew = !seen.has(text) && text.toLowerCase().startsWith(lower) && text.toLowerCase() !== lower
      if (isNew) seen.add(text)
      return isNew
    })
    .slice(0, MOST)
}

/** The word that ends here; none within a text. */
export function wordAt(before: string): string {
  const isText = (before.match(/'/g)?.length ?? 0) % 2 === 1
  return isText ? '' : (/[a-z_]\w*$/i.exec(before)?.[0] ?? '')
}
