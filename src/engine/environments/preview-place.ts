/** The place of a new preview: its id is locked and free, and its production base is there. */
import { productionOf } from '../../contract/ids.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { type DomainError, invalid, oneFault } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { LOCK_BASE_ID } from '../configuration/bases/index.ts'
import { baseNotFound } from '../core/existing-base.ts'
import { type Db, statement } from '../storage/database/client.ts'

// Shared with other previews; waits for writers of configuration, so that no half-made change is copied.
const READ_PRODUCTION = statement(
  'read_production',
  'SELECT environment, settings FROM plinth.base WHERE id = $1 FOR SHARE',
)

/** Whether the id is free, and how many previews there are that copy. */
const READ_PLACE = statement(
  'read_place_of_preview',
  `SELECT EXISTS (SELECT FROM plinth.base WHERE id = $2) AS is_taken,
     (SELECT count(*)::int FROM plinth.base b LEFT JOIN plinth.change_set c ON c.base_id = b.id
      WHERE b.production_base = $1 AND c.base_id IS NULL) AS previews`,
)

/**
 * Locks both ids, and reads the settings of the production base.
 * @throws NOT_FOUND; CONFLICT
 */
export async function settingsOf(tx: Db, baseId: string, id: string): Promise<object> {
  await tx.query(LOCK_BASE_ID, [baseId])
  await tx.query(LOCK_BASE_ID, [id])
  const [production] = await tx.query<{ settings: object }>(READ_PRODUCTION, [baseId])
  if (!production) throw baseNotFound(baseId)
  const [place] = await tx.query<{ is_taken: boolean; previews: number }>(READ_PLACE, [baseId, id])
  if (place?.is_taken) throw exists(id)
  if (place && place.previews >= LIMITS.previews) throw tooMany(baseId, LIMITS.previews)
  return production.settings
}

export const previewOfPreview = (received: string) =>
  invalid({
    path: '/base_id',
    code: 'is_preview',
    message: `"${received}" is a preview, and a preview cannot have previews. Create one of its production base.`,
    received,
    hint: productionOf(received),
  })

export function tooMany(baseId: string, most: number): DomainError {
  const message = `Base "${baseId}" has ${most} of these previews, which is the limit. Delete one first: ${advised('delete_preview')}.`
  return oneFault('CONFLICT', message, { path: '/base_id', code: 'too_many_previews', expected: most })
}

export const exists = (id: string) =>
  oneFault('CONFLICT', `The preview "${id}" already exists.`, {
    path: '/name',
    code: 'exists',
    message: `Choose another name, or delete it first: ${advised('delete_preview')}.`,
  })
