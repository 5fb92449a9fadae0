import { DomainError, withPaths } from '../../../foundation/errors.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { type ClaimArgs, type ClaimedRecords, claimRecords } from '../claims/index.ts'
import { runBatch } from './run-batch.ts'

/**
 * Claims records, and merges `patch` into the data of each, in one transaction. If the result does not fit the schema of one
 * of them, none is claimed.
 * @throws as `claimRecords`; VALIDATION_ERROR below `/patch`
 */
export async function claimAndPatch(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  { patch, ...args }: ClaimArgs & { patch?: unknown },
): Promise<ClaimedRecords> {
  if (patch == null) return claimRecords(scope, baseId, recordType, args)
  return scope.db.statements(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    const claimed = await claimRecords(within, baseId, recordType, args)
    if (claimed.data.length === 0) return claimed
    const operations = claimed.data.map(({ record: { id }, claim }) => ({
      ...{ type: 'patch_record', record_type: recordType, id, data: patch, claim_id: claim.id },
    }))
    const { data: done } = await runBatch(within, baseId, operations).catch((thrown: unknown) => {
      throw atPatch(thrown, claimed)
    })
    return {
      ...claimed,
      data: claimed.data.map((each, n) => ({ ...each, record: done[n]?.record ?? each.record })),
    }
  })
}

/** The failure of an operation, at the patch and with the record in its message. */
function atPatch(thrown: unknown, { data }: ClaimedRecords): unknown {
  const located = withPaths(thrown, (path) => path.replace(/^\/operations\/\d+(\/data)?/, '/patch'))
  if (located instanceof DomainError)
    located.message = located.message.replace(
      /^Operation (\d+): /,
      (_, n) => `Record "${data[Number(n)]?.record.id}": `,
    )
  return located
}
