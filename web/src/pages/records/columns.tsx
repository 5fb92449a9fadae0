/** The columns of a list: the title, states, then scalars in the order of the schema, links by title, and who changed it. */
import { createContext, useContext } from 'react'
import type { Json, RecordType, Row } from '../../api/shapes.ts'
import type { Column } from '../../parts/grid.tsx'
import { type Field, fieldsOf, titleField, titleOf, valueAt } from '../../parts/record-types.ts'
import { Chip, cut, fieldName, Text, Time, toneOf } from '../../parts/text.tsx'
import { Value } from '../../parts/value.tsx'
import { Shape } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { isPerson } from './filter.ts'
import type { Author, Linked } from './load.ts'

/** A schema can have hundreds of properties; so many are shown at first. */
const FIRST = 8
const LONG_CHARS = 300
const LINK = '~'

export type Link = { id: string }

/** What can be a column: properties, and links that lead to one record. */
export const columnNames = (type: RecordType, links: readonly Link[]): string[] => [
  ...fieldsOf(type).map(({ name }) => name),
  ...links.map(({ id }) => LINK + id),
]

export function shownColumns(
  type: RecordType,
  links: readonly Link[],
  chosen: string | undefined,
  isNarrow: boolean,
): string[] {
  const title = titleField(type)
  const fields = fieldsOf(type)
  if (isNarrow)
    return fields
      .filter(({ name, isState }, at) => name === title || (isState && at < 2))
      .map(({ name }) => name)
      .slice(0, 2)
  if (chosen !== undefined) return chosen.split(',').filter((name) => columnNames(type, links).includes(name))
  const short = fields.filter(({ name, schema }) => name === title || !((schema.maxLength ?? 0) > LONG_CHARS))
  const first = short.slice(0, FIRST).map(({ name }) => name)
  return first.length < FIRST - 2 ? [...first, ...links.map(({ id }) => LINK + id)] : first
}

/** The relationship types of the columns, for `expand`. */
export const expandOf = (columns: readonly string[]): string[] =>
  columns.filter((name) => name.startsWith(LINK)).map((name) => `${name.slice(1)}:title`)

export type Sort = { sorted: string; onSort: (sort: string) => void }

const headOf = (path: string) => <Text>{fieldName(path).replace(/^./u, (first) => first.toUpperCase())}</Text>

export function buildColumns(
  type: RecordType,
  names: readonly string[],
  { sorted, onSort }: Sort,
  isNarrow: boolean,
): Column<Linked>[] {
  const fields = new Map(fieldsOf(type).map((field) => [field.name, field]))
  const title = titleField(type)
  const sorting = (path: string) => ({
    onSort: () => onSort(sorted === path ? `-${path}` : path),
    sorted:
      sorted === path ? ('ascending' as const) : sorted === `-${path}` ? ('descending' as const) : undefined,
  })
  const columns = names.map((name): Column<Linked> => {
    const field = fields.get(name)
    if (!field)
      return {
        name,
        head: headOf(name.slice(1)),
        width: 10,
        cell: (row) => <LinkedTitle row={row} type={name.slice(1)} />,
      }
    const { path, isNumber } = field
    return {
      name,
      head: headOf(path),
      width: name === title ? (isNarrow ? 9 : 17) : widthOf(field),
      grow: name === title ? 4 : 1,
      isNumber,
      ...sorting(path),
      cell: (row) =>
        name === title ? <Title row={row} type={type} /> : <Cell field={field} value={valueAt(row, field)} />,
    }
  })
  if (!title)
    columns.unshift({
      name: 'id',
      head: words.records.record,
      width: 14,
      cell: (row) => <Title row={row} type={type} />,
    })
  columns.push({
    name: 'changed',
    head: words.types.heads.changed,
    width: isNarrow ? 5.5 : 11.5,
    ...sorting('updated_at'),
    cell: (row) => <Changed row={row} />,
  })
  return columns
}

/** A column has room for its name, and for the longest of a few values. */
function widthOf({ name, values = [], isState, isNumber, schema }: Field): number {
  const longest = Math.max(name.length, ...values.map((value) => String(value).length))
  if (isState) return Math.min(9, 2.5 + 0.45 * longest)
  if (isNumber) return 6.5
  if (schema.format === 'date') return 5
  return schema.type === 'boolean'
    ? 4
    : isPerson({ name })
      ? 6
      : Math.max(7.5, Math.min(10, 2 + 0.55 * name.length))
}

const Title = ({ row, type }: { row: Row; type: RecordType }) => (
  <span className="medium">
    <Text>{titleOf(row, type)}</Text>
    {row.status === 'cancelled' && <Chip tone="removed">{words.record.cancelled}</Chip>}
  </span>
)

function Cell({ field, value }: { field: Field; value: Json | undefined }) {
  if (value === undefined || value === null) {
    const nobody = isPerson(field)
    return <span className={nobody ? 'empty-word' : 'hidden'}>{nobody ? words.nobody : words.empty}</span>
  }
  if (field.isState && typeof value === 'string') {
    const tone = toneOf(value)
    const isPlain = tone === 'quiet' && !/^(state|status|stage)$/i.test(field.name)
    return isPlain ? <Text>{value}</Text> : <Chip tone={tone}>{cut(value, 40).text}</Chip>
  }
  return <Value value={value} format={field.schema.format} most={120} />
}

function LinkedTitle({ row, type }: { row: Linked; type: string }) {
  const all = row._expanded?.[type] ?? []
  return <Text>{all.map(({ record }) => record.title ?? record.id).join(', ')}</Text>
}

/** Who changed the rows last. They come after the rows, and draw no other cell again. */
export const Authors = createContext<ReadonlyMap<string, Author>>(new Map())

function Changed({ row }: { row: Row }) {
  const author = useContext(Authors).get(row.id)
  return (
    <span className="who">
      {author && (
        <>
          <Shape name={author.actor_name} kind={author.actor_kind} />
          <Text className="meta">{author.actor_name}</Text>
        </>
      )}
      <Time at={row.updated_at} as="span" />
    </span>
  )
}
