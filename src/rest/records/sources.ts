/** Reads of records that name an external source: the source answers, and takes fewer arguments. */
import { z } from 'zod'
import { refuseForSource } from '../../contract/source-arguments.ts'
import { check } from '../../contract/validate.ts'
import { graphql } from '../../graphql/document.ts'
import { recordId } from '../route/shapes.ts'
import { one, RecordFields } from './fragments.ts'
import { ClaimFields } from './shapes.ts'

const EXTERNAL =
  'The name of a source of the record type: the read goes to it. [External sources](/docs/external-sources).'
/** The argument that sends a read to a source, in a query and in a body. */
export const externalSource = z.string().min(1).max(512).optional().meta({ description: EXTERNAL })

/** Path parameters of one record, here or in a source. */
export const oneAnywhere = one.extend({
  id: z.string().min(1).meta({ description: 'A record id; with `external_source`, the id in the source.' }),
})

export const ListedFields = graphql(`fragment ListedFields on RecordPage {
  rows hasMore truncated limit offset total nextCursor hint
}`)
export const SourceListedFields = graphql(`fragment SourceListedFields on SourceRecordPage {
  rows hasMore limit offset total
}`)

/** The variables of a read by which it goes to the source, or to the records here. */
export function readFrom(
  source: string | undefined,
  storedOnly: Readonly<Record<string, unknown>>,
  prefix: string,
) {
  if (source === undefined) return { source: '', fromSource: false }
  refuseForSource(source, storedOnly, prefix)
  return { source, fromSource: true }
}

/** The variables of a read of one record. */
export function oneFrom(
  source: string | undefined,
  id: string,
  storedOnly: Readonly<Record<string, unknown>>,
) {
  if (source === undefined) check(recordId, id, () => 'path/id')
  return readFrom(source, storedOnly, 'query/')
}

export const GetRecord = graphql(
  `query GetRecord($base: String!, $recordType: String!, $id: String!, $version: Int, $asOf: String, $expand: [String!],
    $include: [RecordPart!], $withClaim: Boolean!, $source: String!, $fromSource: Boolean!) {
    record(base: $base, recordType: $recordType, id: $id, version: $version, asOf: $asOf, expand: $expand, include: $include) @skip(if: $fromSource) {
      ...RecordFields _expanded: expanded _expanded_truncated: expandedTruncated
      claim @include(if: $withClaim) { ...ClaimFields }
    }
    sourceRecord(base: $base, recordType: $recordType, source: $source, id: $id) @include(if: $fromSource) { ...RecordFields }
  }`,
  [RecordFields, ClaimFields],
)

/** A read goes to one of two places. */
export const nowhere = (): never => {
  throw new Error('The read goes nowhere')
}
