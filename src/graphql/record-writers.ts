/** Who writes a record: only a write that names a source may be one of an external source. */
import * as sources from '../engine/automation/sources/index.ts'
import type { Scope } from '../engine/core/scope.ts'
import * as records from '../engine/records/index.ts'

type Named = { readonly externalSource?: string | null | undefined }

const { createRecord, patchRecord, putRecord, putRecordByPair } = sources
const ofSources = { createRecord, patchRecord, putRecord, putRecordByPair }

export const writerOf = ({ externalSource }: Named) => (externalSource == null ? records : ofSources)

/** Takes a slot for a write that can wait for a source. */
export function reserveSource<T>(
  scope: Scope,
  { base, recordType, externalSource }: { base: string; recordType: string } & Named,
  work: (scope: Scope) => Promise<T>,
): Promise<T> {
  if (externalSource == null) return work(scope)
  return sources.reserveSource(scope, { base, recordType, externalSource }, work)
}
