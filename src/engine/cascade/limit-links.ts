import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type Db, statement } from '../database/client.ts'
import type { CascadedRecord } from './find-cascade.ts'

// Reads just enough to exceed the limit. A link between two deleted records is found from both ends.
const COUNT = statement(
  'count_links_going',
  `SELECT count(DISTINCT l.id)::int AS links FROM (
     SELECT l.id FROM unnest((SELECT $1::bigint[])) AS g (row_no) CROSS JOIN LATERAL (
       SELECT o.id FROM plinth.relationship o WHERE o.source_row = g.row_no
       UNION ALL SELECT i.id FROM plinth.relationship i WHERE i.target_row = g.row_no) l
     LIMIT ${2 * LIMITS.deletedLinks + 2}) l`,
)

/**
 * Limits the number of links that one transaction deletes. The records are locked.
 * @throws CONFLICT
 */
export async function limitLinks(tx: Db, going: readonly CascadedRecord[]): Promise<void> {
  const [counted] = await tx.query<{ links: number }>(COUNT, [going.map(({ rowNo }) => rowNo)])
  if ((counted?.links ?? 0) <= LIMITS.deletedLinks) return
  throw new DomainError('CONFLICT', `The deletion would delete more than ${LIMITS.deletedLinks} links.`, {
    details: [
      {
        path: '/id',
        code: 'too_many_links',
        message: `One deletion can delete at most ${LIMITS.deletedLinks} links. Delete links first: a batch deletes up to 1000, and deleting a relationship type deletes all its links.`,
        expected: LIMITS.deletedLinks,
      },
    ],
  })
}
