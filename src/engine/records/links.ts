import { isRecordId, isTypeId } from '../../contract/ids.ts'
import { DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { authorize } from '../core/row-policy/apply.ts'
import type { WriteScope } from '../core/write/write.ts'
import { countLinks, type LinkCounts } from '../data/ledger/link-counts.ts'
import { type PairInput, type RecordItem, readPair } from '../data/ledger/record.ts'
import { invalidId, type LinkEnd, type LinkWrite, writeLinks } from './relationships/index.ts'

/** A link written together with a record: to or from another record, by id or by pair. */
export type RecordLink = PairInput & {
  relType: string
  /** Default: `outgoing`, from the written record. */
  direction?: 'outgoing' | 'incoming' | null | undefined
  recordType: string
  id?: string | null | undefined
  /** Omitted: an existing link keeps its data. */
  data?: unknown
}

/** A link of the request with its other end, read. */
type OwnLink = { link: RecordLink; end: LinkEnd }

/**
 * Reads the links of a request. Undefined when there are none.
 * @throws FORBIDDEN; VALIDATION_ERROR with details at `/relationships/<i>/…`
 */
export function readOwnLinks(
  scope: WriteScope,
  baseId: string,
  links: readonly RecordLink[] | null | undefined,
): OwnLink[] | undefined {
  if (!links || links.length === 0) return undefined
  for (const link of links) authorize(scope, 'write', baseId, link.recordType)
  const ends = readEnds(links)
  return links.map((link, index) => ({ link, end: ends[index] as LinkEnd }))
}

/**
 * Adds the links to the record just written. Keeps existing ones. Returns the operation of each.
 * @throws as writeLinks, with details at `/relationships/<i>/…`
 */
export async function addLinks(
  scope: WriteScope,
  baseId: string,
  { recordType, id }: RecordItem,
  links: readonly OwnLink[],
): Promise<LinkCounts> {
  const own = { recordType, id }
  const writes = links.map(({ link, end }) => linkOf(link, own, end))
  const outcomes = await writeLinks(scope, baseId, writes)
  refuse(links.map(({ link }, index) => atLink(outcomes[index], index, link)))
  return countLinks(outcomes)
}

/** Converts to a link write. */
export function linkOf({ relType, direction, data }: RecordLink, own: LinkEnd, other: LinkEnd): LinkWrite {
  const ends = direction === 'incoming' ? { source: other, target: own } : { source: own, target: other }
  return { id: null, relType, ...ends, data: data ?? undefined, pair: null }
}

/**
 * Reads the other ends of the links.
 * @throws VALIDATION_ERROR with the faults of all links
 */
export function readEnds(links: readonly RecordLink[]): LinkEnd[] {
  if (links.length > LIMITS.recordLinks)
    throw invalid({
      path: '/relationships',
      code: 'too_many',
      message: `A record can be written with at most ${LIMITS.recordLinks} relationships. Write the others by themselves.`,
      expected: LIMITS.recordLinks,
    })
  const read = links.map((link, index) => attempt(() => readEnd(link), index))
  refuse(read)
  return read as LinkEnd[]
}

/**
 * Reads one end.
 * @throws VALIDATION_ERROR unless it names a record by id or by pair
 */
function readEnd({ relType, recordType, id, ...pairInput }: RecordLink): LinkEnd {
  const named = { rel_type: relType, record_type: recordType }
  for (const [key, name] of Object.entries(named)) if (!isTypeId(name)) throw invalidId(key, name)
  const pair = readPair(pairInput)
  if (typeof id === 'string' && !isRecordId(id)) throw invalidId('id', id)
  if (typeof id === 'string' && pair)
    throw invalid({
      path: '/external_id',
      code: 'exclusive',
      message: 'Name the other record by id or by external_id, not by both.',
    })
  if (typeof id === 'string') return { recordType, id }
  if (pair) return { recordType, ...pair }
  throw invalid({ path: '/id', code: 'required', message: 'Name the other record by id or by external_id.' })
}

function attempt<T>(work: () => T, index: number): T | DomainError {
  try {
    return work()
  } catch (thrown) {
    const moved = withPaths(thrown, (path) => `/relationships/${index}${path}`)
    if (moved instanceof DomainError) return moved
    throw thrown
  }
}

/** Maps the error paths of a link to the body of the record. */
export function atLink<T>(outcome: T, index: number, link: RecordLink): T | DomainError {
  if (!(outcome instanceof DomainError)) return outcome
  const other = link.direction === 'incoming' ? 'source' : 'target'
  const names: Record<string, string> = {
    [`/${other}_record_type`]: '/record_type',
    [`/${other}_id`]: typeof link.id === 'string' ? '/id' : '/external_id',
  }
  // A fault of the written record as an end is caused by the chosen type.
  const rename = (path: string) => names[path] ?? (/^\/(source|target)_/.test(path) ? '/rel_type' : path)
  return withPaths(outcome, (path) => `/relationships/${index}${rename(path)}`) as DomainError
}

/** Throws the first error, with the details of all. */
function refuse(outcomes: readonly unknown[]): void {
  const faults = outcomes.filter((outcome) => outcome instanceof DomainError)
  const [first] = faults
  if (first)
    throw new DomainError(first.code, first.message, { details: faults.flatMap(({ details }) => details) })
}
