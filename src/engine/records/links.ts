import { isRecordId, isTypeId } from '../../contract/ids.ts'
import { DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type PairInput, type RecordItem, readPair } from '../record-store/record.ts'
import { invalidId, type LinkEnd, type LinkWrite, writeLinks } from '../relationships/index.ts'
import { demandWithin } from '../row-policy/apply.ts'
import type { WriteScope } from '../write/write.ts'

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

/**
 * Writes a record with links, atomically. Adds links and keeps existing ones.
 * @throws as writeLinks, with details at `/relationships/<i>/…`
 */
export async function withLinks(
  scope: WriteScope,
  [baseId, recordType]: readonly [baseId: string, recordType: string],
  links: readonly RecordLink[] | null | undefined,
  write: (scope: WriteScope) => Promise<RecordItem>,
): Promise<RecordItem> {
  if (!links || links.length === 0) return write(scope)
  for (const link of links) demandWithin(scope, 'write', baseId, link.recordType)
  const ends = readEnds(links)
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const record = await write(within)
    const own = { recordType, id: record.id }
    const outcomes = await writeLinks(
      within,
      baseId,
      links.map((link, index) => linkOf(link, own, ends[index] as LinkEnd)),
    )
    refuse(outcomes.map((outcome, index) => placed(outcome, index, links[index] as RecordLink)))
    return record
  })
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
export function placed<T>(outcome: T, index: number, link: RecordLink): T | DomainError {
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
