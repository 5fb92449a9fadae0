import { createCipheriv, createDecipheriv, createSecretKey, hash, type KeyObject } from 'node:crypto'
import { digest } from '../digest.ts'
import { invalid } from '../errors.ts'

/** Where a page ended: the last item's id, and what each term of the sort was there; null is a missing value. */
export type Position = { id: string; values: readonly (string | number | null)[] }

/** What cursors are sealed with. A key object: bytes would be made one at each use, which costs more than the sealing. */
export type CursorKey = { readonly cipher: KeyObject; readonly nonce: string }

export const cursorKey = (secret: Buffer): CursorKey => ({
  cipher: createSecretKey(secret),
  nonce: hash('sha256', secret, 'hex'),
})

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals where a page ended. Opaque, and of use only with what it is bound to: the query and the rights it was made with. */
export function sealCursor(key: CursorKey, boundTo: unknown, position: Position): string {
  const text = JSON.stringify([position.id, ...position.values])
  const bound = digest(boundTo)
  // Equal pages have equal cursors; a nonce of what is sealed comes again only with the same.
  const nonce = hash('sha256', `${key.nonce}${bound}${text}`, 'buffer').subarray(0, NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key.cipher, nonce).setAAD(Buffer.from(bound))
  const sealed = [cipher.update(text), cipher.final()]
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Where the page before ended. @throws VALIDATION_ERROR for a cursor that this server did not make for this query */
export function openCursor(key: CursorKey, boundTo: unknown, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  // Node skips what is not base64url; the cursor as it was given reads back the same.
  const isWhole = bytes.toString('base64url') === cursor
  if (!isWhole || bytes.length <= NONCE_BYTES + TAG_BYTES) throw badCursor()
  const decipher = createDecipheriv(CIPHER, key.cipher, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(digest(boundTo)))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const opened = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
    const [id, ...values] = JSON.parse(opened.toString()) as [string, ...Position['values']]
    return { id, values }
  } catch {
    throw badCursor()
  }
}

const badCursor = () =>
  invalid({
    path: '/cursor',
    code: 'invalid_cursor',
    message:
      'The cursor is not one of this list: it goes with the filter, the sort and the rights that it was made with. Start again without a cursor.',
  })
