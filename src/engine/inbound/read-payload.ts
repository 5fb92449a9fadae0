/** The payload of a delivery, and what its scheme says in it. */

import { hexDigest } from '../../contract/canonical-hash.ts'
import type { Signature } from '../../contract/inbound-webhook-shapes.ts'
import { type DomainError, invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { parseJson, parseLargeJson } from '../../json/parse.ts'

/** @throws VALIDATION_ERROR unless the body is JSON that can be stored */
export async function readPayload(body: Buffer, contentType: string | null): Promise<unknown> {
  if (contentType !== null && /^(application\/x-www-form-urlencoded|multipart\/)/i.test(contentType))
    throw notJson(contentType)
  return body.length > LIMITS.jsonAtOnceBytes ? parseLargeJson(body) : parseJson(body)
}

const notJson = (received: string): DomainError =>
  invalid({
    path: 'header/Content-Type',
    code: 'unsupported_media_type',
    message: 'Set the sender to send JSON, as application/json.',
    received,
    allowed: ['application/json'],
  })

/** Members of a payload that are the id of its delivery, where the scheme has no header for it. */
const ID_IN_PAYLOAD: Partial<Record<Signature['scheme'], string>> = { stripe: 'id', slack: 'event_id' }

export function deliveryIdIn(payload: unknown, { scheme }: Signature): string | null {
  const name = ID_IN_PAYLOAD[scheme]
  const id = name !== undefined && isObject(payload) ? payload[name] : null
  return typeof id === 'string' ? id : null
}

/** The id of a delivery as it is kept: a long one as its SHA-256, since an index has no room for it; null for an empty one. */
export function keptId(id: string | null): string | null {
  if (id === null || id === '') return null
  return id.length > LIMITS.deliveryIdChars ? `sha256:${hexDigest(id)}` : id
}

/** The challenge by which Slack asks whether the address is right. It makes no record. */
export function challengeIn(payload: unknown, { scheme }: Signature): string | null {
  if (scheme !== 'slack' || !isObject(payload) || payload['type'] !== 'url_verification') return null
  const { challenge } = payload
  return typeof challenge === 'string' ? challenge : null
}
