/** What the page of a record reads. */
import { pathOf, useRead } from '../../api/queries.ts'
import type {
  Attachment,
  Base,
  Change,
  Claim,
  Delivery,
  Related as Found,
  Page,
  Row,
} from '../../api/shapes.ts'

export type Place = { base: string; type: string; id: string }

export type File = Attachment & { size: number }
export type Shown = Row & { claim?: Claim | null; _expanded?: { attachments?: File[] } }
export type Related = Omit<Found, 'record'> & { record: Row }

/** Versions that the page folds: blame of fields goes back so far, the rest is in the pages behind. */
export const VERSIONS = 100
const LINKS = 100
/** The history shows the beginning of long texts. */
const STRING = 1000

export const recordPath = ({ base, type, id }: Place) => [base, 'records', type, id]

export const useRecord = (place: Place) =>
  useRead<Shown>(pathOf(recordPath(place), { include: 'claim', expand: 'attachments' }), { keep: true })

export const useVersion = (place: Place, version: number | undefined) =>
  useRead<Row>(pathOf(recordPath(place), { version }), { enabled: version !== undefined, keep: true })

export const useRelated = (place: Place) =>
  useRead<Page<Related>>(
    pathOf([...recordPath(place), 'related'], {
      direction: 'both',
      include: 'titles',
      max_string: STRING,
      include_total: true,
      limit: LINKS,
    }),
    { keep: true },
  )

const PROPOSALS = 20
/** Change-sets that change the record, and are not decided. */
export const useProposals = ({ base, type, id }: Place) =>
  useRead<Page<Base>>(
    pathOf([base, 'previews'], { record_type: type, record_id: id, state: 'open', limit: PROPOSALS }),
  )

export const useHistory = ({ base, type, id }: Place) =>
  useRead<Page<Change>>(
    pathOf([base, 'changes'], {
      record_type: type,
      id,
      include: 'before',
      max_string: STRING,
      order: 'desc',
      limit: VERSIONS,
    }),
    { keep: true },
  )

/** Triggers that fired, and webhooks that wrote. A token that may not read the whole base sees none. */
export const useFired = ({ base, type, id }: Place) =>
  useRead<Page<Delivery>>(pathOf([base, 'deliveries'], { record_type: type, id, limit: 100 }), { keep: true })

/** Who set a property, and in which version: the latest change of it up to the version that is shown. */
export type Blame = { change: Change; isCreation: boolean }

export function blameOf(changes: readonly Change[], upTo: number): (field: string) => Blame | undefined {
  const found = new Map<string, Blame>()
  let whole: Change | undefined
  for (const change of changes) {
    if (change.version > upTo) continue
    for (const { path } of change.diff) {
      const [, top, name] = path.split('/')
      if (path === '' || (top === 'data' && name === undefined)) whole ??= change
      else if (top === 'data' && name !== undefined && !whole) {
        const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
        if (!found.has(key)) found.set(key, { change, isCreation: false })
      }
    }
    if (whole) break
  }
  const rest = whole && { change: whole, isCreation: whole.operation === 'create' }
  return (field) => found.get(field) ?? rest
}
