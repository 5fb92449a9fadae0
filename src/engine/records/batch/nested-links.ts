import type { z } from 'zod'
import type { OPERATION_SHAPES } from '../../../contract/batch-shapes.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { countLinks } from '../../data/ledger/link-counts.ts'
import type { CompiledRelationshipType } from '../../schema/compiled-types/compiled-relationship-type.ts'
import { atLink, linkOf, readEnds } from '../links.ts'
import { checkLink, type LinkWrite, linkText, writeLinks } from '../relationships/index.ts'
import {
  type DataOperation,
  type Failure,
  type Id,
  isOfRecord,
  type OwnLink,
  type RecordOperation,
} from './operation.ts'
import type { Outcome } from './outcome.ts'
import { LATER, type Names, recordOf } from './references.ts'

type Raw = NonNullable<z.output<(typeof OPERATION_SHAPES)['create_record']>['relationships']>
type Linking = Extract<RecordOperation, { links: unknown }>

/**
 * Parses the nested relationships of a record write.
 * @throws VALIDATION_ERROR with the fault of each
 */
export function readOwnLinks(raw: Raw | undefined, names: Names): OwnLink[] {
  if (!raw) return []
  const ids = raw.map(({ id, record_type }, n) =>
    id === undefined ? null : names.resolve(id, `/relationships/${n}/id`, recordOf(record_type)),
  )
  const links = raw.map(({ rel_type, direction, record_type, data, external_id, external_source }, n) => {
    const id = ids[n]
    return {
      relType: rel_type,
      direction,
      recordType: record_type,
      id: typeof id === 'object' && id !== null ? LATER : id,
      externalId: external_id,
      externalSource: external_source,
      data,
    }
  })
  return readEnds(links).map((end, n) => ({ end, id: ids[n] ?? null, link: links[n] as OwnLink['link'] }))
}

export const hasOwnLinks = (operation: DataOperation): operation is Linking =>
  isOfRecord(operation) && 'links' in operation && operation.links.length > 0

/** Validates nested relationships as far as possible before the records exist. */
export async function validateOwnLinks(
  scope: WriteScope,
  baseId: string,
  operations: readonly Linking[],
  types: ReadonlyMap<string, CompiledRelationshipType>,
): Promise<Failure[]> {
  const failures: Failure[] = []
  for (const { index, recordType, links } of operations)
    for (const [n, { link, end }] of links.entries()) {
      if (turnIsOver()) await nextTurn()
      const write = linkOf(link, { recordType, id: LATER }, end)
      const fault = faultOf(() => {
        const type = checkLink(scope, baseId, write, types)
        if (write.data !== undefined) linkText(scope, type, write.data)
      })
      if (fault) failures.push({ index, error: atLink(fault, n, link) as DomainError })
    }
  return failures
}

function faultOf(work: () => void): DomainError | undefined {
  try {
    work()
    return undefined
  } catch (thrown) {
    if (thrown instanceof DomainError) return thrown
    throw thrown
  }
}

/** Writes nested relationships, counts them in the outcomes, and collects errors in `failures`. */
export async function writeOwnLinks(
  scope: WriteScope,
  baseId: string,
  operations: readonly Linking[],
  known: { idOf: (id: Id) => string; outcomeOf: (index: number) => Outcome },
  failures: Failure[],
): Promise<void> {
  const all = operations.flatMap((operation) => operation.links.map((own, n) => ({ operation, own, n })))
  const writes = all.map(({ operation: { index, recordType }, own: { link, end, id } }): LinkWrite => {
    const other = id === null ? end : { recordType: end.recordType, id: known.idOf(id) }
    return linkOf(link, { recordType, id: known.outcomeOf(index).id }, other)
  })
  const written = await writeLinks(scope, baseId, writes)
  for (const [index, own] of Map.groupBy(all.keys(), (at) => all[at]?.operation.index ?? 0))
    known.outcomeOf(index).linked = countLinks(own.map((at) => written[at]))
  failures.push(
    ...all.flatMap(({ operation, own, n }, at) => {
      const outcome = atLink(written[at], n, own.link)
      return outcome instanceof DomainError ? [{ index: operation.index, error: outcome }] : []
    }),
  )
}
