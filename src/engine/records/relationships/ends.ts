import { isRecordId, isTypeId } from '../../../contract/ids.ts'
import { invalidId } from './link.ts'

/** Identifies a link by its type and ends. */
export type LinkEnds = {
  relType: string
  sourceRecordType: string
  sourceId: string
  targetRecordType: string
  targetId: string
}

/**
 * Checks the names of a type and two ends.
 * @throws VALIDATION_ERROR
 */
export function checkEnds({
  relType,
  sourceRecordType,
  sourceId,
  targetRecordType,
  targetId,
}: LinkEnds): void {
  const named = {
    rel_type: relType,
    source_record_type: sourceRecordType,
    target_record_type: targetRecordType,
  }
  for (const [key, name] of Object.entries(named)) if (!isTypeId(name)) throw invalidId(key, name)
  for (const [key, name] of Object.entries({ source_id: sourceId, target_id: targetId }))
    if (!isRecordId(name)) throw invalidId(key, name)
}
