import { DomainError } from '../../foundation/errors.ts'
import type { Going } from '../cascade/find-cascade.ts'
import { demandType } from '../configuration/record-types/read.ts'
import type { Scope } from '../core/scope.ts'
import { areWithin } from '../query/policy-read.ts'
import { lensOn } from '../row-policy/apply.ts'

/** Where a scope is narrowed, holds a deletion to what it reaches. @throws FORBIDDEN when links would take other records along */
export async function demandReach(scope: Scope, baseId: string, going: readonly Going[]): Promise<void> {
  if (!scope.lens) return
  for (const [recordType, records] of Map.groupBy(going, (each) => each.recordType)) {
    if (scope.access.allows('write', baseId, recordType)) continue
    const lens = lensOn(scope, baseId, recordType)
    if (!lens || !scope.lens.access.allows('write', baseId, recordType)) throw takesOthers()
    const type = await demandType(scope, baseId, recordType)
    const ids = records.map(({ id }) => id)
    if (!(await areWithin(scope, lens, type, ids))) throw takesOthers()
  }
}

const takesOthers = () =>
  new DomainError(
    'FORBIDDEN',
    'The deletion would cascade to records that this endpoint has no access to. Nothing was deleted.',
    {
      details: [
        {
          path: '/id',
          code: 'out_of_bounds',
          message: 'Delete it at an address with access to these records too.',
        },
      ],
    },
  )
