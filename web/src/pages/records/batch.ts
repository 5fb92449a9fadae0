/** Writes of several records: one transaction, tried first, and undone by its request. */
import { useState } from 'react'
import { pathOf, useAsk, useWrite } from '../../api/queries.ts'
import { newKey } from '../../api/send.ts'
import type { RecordType } from '../../api/shapes.ts'
import { counted } from '../../parts/record-types.ts'
import { sayDone } from '../../parts/toast.tsx'
import type { Linked } from './load.ts'

/** An act on the selected records. */
export type ActProps = {
  base: string
  type: RecordType
  rows: readonly Linked[]
  onClose: () => void
  onDone: () => void
}

export const countOf = (type: RecordType, count: number): string => counted(count, [type], type.id, 'record')

export type Operation = {
  type: 'patch_record' | 'upsert_record' | 'delete_record'
  record_type: string
  id: string
  data?: unknown
  expected_version?: number
}

/** An operation on a row as it is shown. */
export const operationOn = (
  { id, record_type, version }: Linked,
  of: Pick<Operation, 'type' | 'data'>,
): Operation => ({ ...of, record_type, id, expected_version: version })

/** `done` says what was done, with the way back. */
export function useBatch(base: string, operations: readonly Operation[], done: string, onDone: () => void) {
  const [request] = useState(newKey)
  const body = { operations }
  const tried = useAsk(pathOf([base, 'batch'], { dry_run: true }), body, {
    enabled: operations.length > 0,
    keep: true,
  })
  const write = useWrite(base)
  const saidDone = () => {
    onDone()
    sayDone(done, base, request)
  }
  const carryOut = () =>
    write.send('POST', pathOf([base, 'batch']), body, saidDone, { 'x-request-id': request })
  const isReady = operations.length > 0 && tried.isSuccess && !write.isPending
  return {
    /** The act of the dialog. */
    act: (label: string) => ({ label, isReady, onSelect: carryOut }),
    error: write.error ?? (operations.length > 0 ? tried.error : null),
  }
}
