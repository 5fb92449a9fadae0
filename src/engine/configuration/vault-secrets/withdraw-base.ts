import { previewsOf } from '../../../contract/secret-shapes.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { statement } from '../../storage/database/client.ts'

const CLOSE = statement(
  'close_secrets_to_base',
  `UPDATE plinth.secret SET bases = array_remove(array_remove(bases, $1), $2), version = version + 1, updated_at = now()
   WHERE bases && ARRAY[$1, $2]`,
)

/** Closes all secrets to a deleted base, so that a new base with the same id starts without them. */
export async function closeSecretsTo({ db }: WriteScope, baseId: string): Promise<void> {
  await db.query(CLOSE, [baseId, previewsOf(baseId)])
}
