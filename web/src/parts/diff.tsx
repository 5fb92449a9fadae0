/** What changed: old, struck out → new, a line for each field. */
import { diffWordsWithSpace } from 'diff'
import type { Data, Json, Step } from '../api/shapes.ts'
import { words } from '../words.ts'
import { own } from './record-types.ts'
import { DIFF_CHARS, fieldName, visible } from './text.tsx'
import { Value } from './value.tsx'

type Side = 'from' | 'to'
/** `varies`: changes that share a line have several values on this side. */
type Sides = { from?: Json | undefined; to?: Json | undefined; varies?: readonly Side[] }
/** A field with its values before and after. */
export type FieldChange = Sides & { name: string }

/** The changes of fields that a JSON Patch of a record makes; of a whole record, those of its data. */
export function changesOf(diff: readonly Step[]): FieldChange[] {
  const found = new Map<string, FieldChange>()
  for (const step of diff) {
    const { op, path, value, before } = step
    if (path === '') {
      const [from, to] = [dataOf(before), dataOf(value)]
      for (const name of new Set([...Object.keys(from), ...Object.keys(to)]))
        found.set(name, { name: fieldName(name), from: own(from, name), to: own(to, name) })
      continue
    }
    const [, top = '', name = ''] = path.split('/')
    if (top !== 'data' && op !== 'remove' && (value === null || value === undefined)) continue
    const items = itemsOf(found.get(`/data/${name}`), step)
    if (items) {
      found.set(`/data/${name}`, { name: fieldName(`/data/${name}`), ...items })
      continue
    }
    const label = top === 'data' && name !== '' ? fieldName(path) : fieldName(top)
    // Histories leave out what was there before.
    const varies: readonly Side[] = op !== 'add' && before === undefined ? ['from'] : []
    found.set(path, { name: label, from: before, to: op === 'remove' ? undefined : value, varies })
  }
  return [...found.values()]
}

/** What two states of data differ in. */
export const differences = (before: Data, after: Data): FieldChange[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(own(before, name)) !== JSON.stringify(own(after, name)))
    .map((name) => ({ name: fieldName(name), from: own(before, name), to: own(after, name) }))

/** Steps on the items of a list are one change of it: what was taken, and what was added. */
function itemsOf(so: FieldChange | undefined, { op, path, value, before }: Step): Sides | undefined {
  if (!/^\/data\/[^/]+\/(\d+|-)$/.test(path)) return undefined
  const [from, to] = [so?.from ?? [], so?.to ?? []]
  const taken = op === 'add' || before === undefined ? [] : [before]
  const added = op === 'remove' || value === undefined ? [] : [value]
  if (!isPlainList(from) || !isPlainList(to) || !isPlainList(taken) || !isPlainList(added)) return undefined
  return { from: [...from, ...taken], to: [...to, ...added] }
}

const objectOf = (value: Json | undefined): Data | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
const dataOf = (state: Json | undefined): Data => objectOf(objectOf(state)?.['data']) ?? objectOf(state) ?? {}

export const isEmpty = (value: Json | undefined) => value === undefined || value === null || value === ''

export const Arrow = () => (
  <>
    {' '}
    <span className="arrow" role="img" aria-label={words.becomes}>
      →
    </span>{' '}
  </>
)

/** `old → new` in a line. */
function Change({ from, to, varies = [], most = DIFF_CHARS }: Sides & { most?: number }) {
  const lists = listDifference(from, to)
  if (lists)
    return (
      <span className="items">
        {lists.taken.map((item) => (
          <del key={`-${item}`}>
            <Value value={item} most={most} />
          </del>
        ))}
        {lists.added.map((item) => (
          <ins key={`+${item}`}>
            <Value value={item} most={most} />
          </ins>
        ))}
      </span>
    )
  const wordDiff = most > DIFF_CHARS && isProse(from) && isProse(to) ? wordsBetween(from, to) : undefined
  if (wordDiff) return <WordChange parts={wordDiff} />
  const side = (value: Json | undefined, Mark: 'del' | 'ins') =>
    isEmpty(value) ? (
      <span className="empty-word">{words.empty}</span>
    ) : (
      <Mark>
        <Value value={value} most={most} />
      </Mark>
    )
  return (
    <>
      {!varies.includes('from') && side(from, 'del')}
      <Arrow />
      {varies.includes('to') ? <span className="empty-word">{words.severalValues}</span> : side(to, 'ins')}
    </>
  )
}

const PROSE_CHARS = 40
/** Longer texts are for the eye: to compare them takes too long. */
const COMPARED_CHARS = 10_000
const isProse = (value: Json | undefined): value is string =>
  typeof value === 'string' && value.length > PROSE_CHARS && value.length < COMPARED_CHARS

/** The words that were taken and added. Texts that share less than half are read one after the other. */
function wordsBetween(from: string, to: string) {
  const parts = diffWordsWithSpace(visible(from), visible(to), { timeout: 100 })
  const isKept = ({ added, removed }: { added: boolean; removed: boolean }) => !added && !removed
  const kept = parts?.filter(isKept).reduce((sum, { value }) => sum + value.trim().length, 0) ?? 0
  return kept * 2 < Math.min(from.length, to.length) ? undefined : parts
}

/** Long texts are shown by the words that were taken and added. */
const WordChange = ({ parts }: { parts: ReturnType<typeof diffWordsWithSpace> }) => (
  <bdi dir="auto" className="long">
    {parts.map(({ value, added, removed }, at) => {
      const Mark = added ? 'ins' : removed ? 'del' : 'span'
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
      return <Mark key={at}>{value}</Mark>
    })}
  </bdi>
)

/** Lists of plain items are shown by what was taken and added. */
function listDifference(from: Json | undefined, to: Json | undefined) {
  if (!isPlainList(from) || !isPlainList(to)) return undefined
  return {
    taken: from.filter((item) => !to.includes(item)),
    added: to.filter((item) => !from.includes(item)),
  }
}
const isPlainList = (value: Json | undefined): value is (string | number)[] =>
  Array.isArray(value) &&
  value.length <= 50 &&
  value.every((item) => typeof item === 'string' || typeof item === 'number')

/** Fields in one line, as many as a row has place for. */
type ListProps = { changes: readonly (FieldChange & { count?: number })[]; most?: number }

export function ChangesInLine({ changes, most = 4 }: ListProps) {
  return (
    <span className="changes">
      {changes.slice(0, most).map(({ name, count, ...sides }) => (
        <span key={name} className="field-change">
          <span className="field-name">{name}</span> <Change {...sides} />
          {count !== undefined && count > 1 && <span className="times"> × {count}</span>}
        </span>
      ))}
      {changes.length > most && <span className="more">{words.moreFields(changes.length - most)}</span>}
    </span>
  )
}

/** Fields below each other, as in the history of a record. */
export const ChangesInTable = ({ changes, most = CELL }: ListProps) => (
  <dl className="change-table">
    {changes.map(({ name, ...sides }) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <Change {...sides} most={most} />
        </dd>
      </div>
    ))}
  </dl>
)
const CELL = 160
