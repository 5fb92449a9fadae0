/** A record as a source answers it. It is not stored, so it has no version, times and status of its own. */
import { uuidv7 } from '../../../foundation/uuid.ts'
import type { RecordItem } from '../../data/ledger/record.ts'

export type SourceRecord = Pick<RecordItem, 'recordType' | 'data' | 'operation'> & {
  /** The external id. Of a dry run that would create a record, which the source would name, any id. */
  readonly id: string
  readonly externalId: string | null
  readonly externalSource: string
  readonly version: null
  readonly status: null
  readonly cancelledAt: null
  readonly valid: null
  readonly createdAt: null
  readonly updatedAt: null
}

const NOT_STORED = {
  ...{ version: null, status: null, cancelledAt: null, valid: null, createdAt: null, updatedAt: null },
} as const

export const sourceRecord = (
  recordType: string,
  externalSource: string,
  externalId: string | null,
  data: unknown,
): SourceRecord => ({
  id: externalId ?? uuidv7(),
  recordType,
  data,
  externalId,
  externalSource,
  ...NOT_STORED,
})
