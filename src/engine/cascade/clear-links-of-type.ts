import { authorship } from '../core/scope.ts'
import { statement } from '../database/client.ts'
import type { WriteScope } from '../write/write.ts'
import { deleteRows, unlinkType } from './delete-rows.ts'
import { lockCascadeOfType } from './find-cascade.ts'
import { limitLinks } from './limit-links.ts'
import { demandTypeUnrestricted } from './restrict.ts'
import { summarizeType } from './summarize.ts'

// Who makes a link holds its type: until the transaction ends no link of the base is made.
const HOLD_LINKS = statement(
  'hold_relationship_types',
  'SELECT 1 AS one FROM plinth.relationship_type WHERE base_id = $1 ORDER BY id FOR UPDATE',
)

/**
 * Readies a record type for its deletion, within the transaction that holds it: takes out the links of its records, and
 * deletes the records of other types that go along. Calls `told` when the plan knows of all that goes.
 * @throws CONFLICT when a link from another type restricts it
 */
export async function clearLinksOfType(
  scope: WriteScope,
  baseId: string,
  recordType: string,
  told: () => void,
): Promise<void> {
  const { db: tx, access } = scope
  const hasLinks = (await tx.query(HOLD_LINKS, [baseId])).length > 0
  if (!hasLinks) {
    await summarizeType(scope, baseId, recordType, [])
    return told()
  }
  const along = await lockCascadeOfType(tx, baseId, recordType)
  await limitLinks(tx, along)
  await demandTypeUnrestricted(tx, { access, baseId }, recordType, along)
  await summarizeType(scope, baseId, recordType, along)
  told()
  const each = new Map(along.map(({ rowNo }) => [rowNo, rowNo]))
  if (along.length > 0) await deleteRows(tx, baseId, along, each, authorship(scope))
  await unlinkType(tx, baseId, recordType, authorship(scope))
}
