/** Who writes a record: only a write that names a source may be one of an external source. */

import * as sources from '../engine/automation/sources/index.ts'
import type { Scope } from '../engine/core/scope.ts'
import * as records from '../engine/records/index.ts'

type Named = { readonly externalSource?: string | null | undefined }

const { createRecord, patchRecord, putRecord, putRecordByPair } = sources
const ofSources = { createRecord, patchRecord, putRecord, putRecordByPair }

export const writerOf = ({ externalSource }: Named) => (externalSource == null ? records : ofSources)

/** Takes a slot for a write that can wait for a source, before it takes a database connection. */
export const reserveSource = <T>(
  scope: Scope,
  target: { base: string; recordType: string } & Named,
  work: (scope: Scope) => Promise<T>,
): Promise<T> => (target.externalSource == null ? work(scope) : sources.reserveSource(scope, target, work))
