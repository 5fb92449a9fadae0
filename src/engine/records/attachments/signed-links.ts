/** Signed links: a sealed text gives access to one attachment, in one direction, until a time. */
import { oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Scope } from '../../core/scope.ts'
import { type SealKey, seal, unseal } from '../../core/sealed-token.ts'
import type { RecordKey } from './attachment.ts'

export type LinkUse = 'download' | 'upload'
export type AttachmentKey = { key: RecordKey; attachmentId: string }
/** What a link gives access to, and the key of the session that made it: null for one that no token of Plinth made. */
export type Link = { attachment: AttachmentKey; session: string | null }
/** Path prefix of links. */
const LINK_PATH = '/attachments/'

/** Makes a link for an attachment, and says when it ends. */
export function makeLink(
  { keys, publicUrl, session }: Scope,
  use: LinkUse,
  { key, attachmentId }: AttachmentKey,
): { url: string; expiresAt: string } {
  const expires = Math.min(
    Date.now() + LIMITS.linkMinutes * 60_000,
    session?.expiresAt?.getTime() ?? Infinity,
  )
  const sealed = seal(
    keys.link,
    boundTo(use),
    JSON.stringify([...key, attachmentId, expires, session?.key ?? null]),
  )
  return { url: `${publicUrl()}${LINK_PATH}${sealed}`, expiresAt: new Date(expires).toISOString() }
}

/** The link to the content of an attachment that the caller may read. */
export const linkTo = (scope: Scope, key: RecordKey, attachmentId: string) =>
  makeLink(scope, 'download', { key, attachmentId })

/**
 * Opens a link for a use. The caller checks that its session has not ended.
 * @throws FORBIDDEN if it was altered, is for another use, or has expired
 */
export function openLink(key: SealKey, use: LinkUse, sealed: string): Link {
  const text = unseal(key, boundTo(use), sealed)
  if (text === undefined) throw refused('link_invalid', 'The link is not valid for this request.')
  // A link of an earlier version names no session.
  const [baseId, recordType, id, attachmentId, expires, session = null] = JSON.parse(text) as [
    ...[string, string, string, string],
    number,
    (string | null)?,
  ]
  if (expires <= Date.now()) throw refused('link_expired', 'The link has expired.')
  return { attachment: { key: [baseId, recordType, id], attachmentId }, session }
}

/** The link was made with a token that was revoked since. */
export const linkEnded = () => refused('link_ended', 'The token that made the link was revoked.')

const boundTo = (use: LinkUse) => ['attachment', use]

const refused = (code: string, message: string) =>
  oneFault('FORBIDDEN', message, {
    path: 'path/link',
    code,
    message: 'Get a new one from the attachments of the record.',
  })
