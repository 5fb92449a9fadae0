/** What a proposal changes, as the pages and the requests name it. */

import type { Detail } from '../api/failure.ts'
import { asking, pathOf } from '../api/queries.ts'
import type { Proposal as Answer, Base, ChangeSet, Data, Edit, RecordType, Step } from '../api/shapes.ts'
import { words } from '../words.ts'
import { counted } from './record-types.ts'
import { typeOf } from './schema.ts'
import { fieldName } from './text.tsx'

/** `csat` of `desk--csat`. */
export const shortName = (preview: string): string => preview.split('--').at(-1) ?? preview

/** What a base is called; of a change-set, what it is about. */
export const baseName = ({ id, name, change_set: set }: Base): string =>
  set ? (set.title ?? words.review.titles.records(sizeOf(set))) : (name ?? shortName(id))

export const kindName = (kind: string): string => words.review.kindNames[kind] ?? kind.replaceAll('_', ' ')

export type Proposal = Omit<Answer, 'breaks'> & { breaks: Detail[] }
/** Of a change-set: what is in conflict, `/ticket/t1/data/stage`. */
export type Conflict = Answer['conflicts'][number] & { path: string }

/** The question what promoting a preview, or some of it, would do now. */
export const proposalOf = (base: string, asked: { from: string; resources?: readonly Named[] }) => ({
  ...asking<Proposal>(pathOf([base, 'promote', 'proposal']), asked),
  enabled: true,
})

/** How much of production would not fit, in a sentence; undefined where all fits. */
export function misfits(
  breaks: readonly { code?: string; count?: number; path?: string; id?: string | null }[],
  conflicts: number,
  types: readonly RecordType[],
): string | undefined {
  const [first] = breaks
  if (first?.code === 'records_invalid' && breaks.length === 1)
    return words.review.wouldNotFit(
      counted(first.count ?? 0, types, first.id ?? typeOf(first.path ?? ''), 'record'),
    )
  if (breaks.length > 0) return words.review.obstacles(breaks.length)
  return conflicts > 0 ? words.review.both(conflicts) : undefined
}

/** What a request names: a record by its type, all else by kind and id. */
export type Named = { kind: string; record_type?: string; id: string }

export const keyOf = ({ kind, id }: Named): string => `${kind}/${id}`

/** Whether something is said of an edit. */
export const isAbout = (edit: Edit, resources: readonly Named[] | null): boolean =>
  resources?.some(
    ({ kind, record_type: type, id }) => kind === edit.kind && edit.id === (type ? `${type}/${id}` : id),
  ) ?? false

export const isOfRecords = ({ kind }: { kind: string }): boolean =>
  kind === 'record' || kind === 'relationship'

/** The type and the id of a record that an edit is of: `ticket/T-1` is of a ticket. */
export function recordOf({ id }: Pick<Edit, 'id'>): readonly [type: string, id: string] {
  const [type = '', own = ''] = id.split(/\/(.*)/s)
  return [type, own]
}

/** An edit as a request names it. */
export function named({ kind, id }: Named): Named {
  if (kind !== 'record') return { kind, id }
  const [type, own] = recordOf({ id })
  return { kind, record_type: type, id: own }
}

/** The fields that an update changes, `data.stage` for `/data/stage/0`, with their names. */
export function fieldsOf({ op, diff }: Edit): [path: string, name: string][] {
  const paths = op === 'update' ? diff.map(({ path }) => path.split('/').slice(1, 3).join('.')) : []
  return [...new Set(paths)].map((path) => [path, fieldName(path)])
}

/** All of what is made or goes, such as a link with its ends. */
export const wholeIn = ([step]: readonly Step[]): Data | undefined =>
  step?.path === '' ? ((step.value ?? step.before) as Data) : undefined

export const sizeOf = ({ counts }: ChangeSet) => counts.create + counts.update + counts.delete

/** Whether the page of something else reads all of it: of one with more, a list shows how many there are. */
export const isSmall = (set: ChangeSet) => sizeOf(set) <= 200
