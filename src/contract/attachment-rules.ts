/** Rules of filenames and content types. Specified in docs/attachments.md. */
import { type Detail, invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { hasControlCharacters } from './ids.ts'

/** Characters that change the direction of text. */
export const DIRECTION = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]/

/** A part of a content type, as a pattern. */
export const MEDIA_TOKEN = "[A-Za-z0-9!#$&^_.+'-]{1,127}"
/** The pattern of a content type with its parameters. */
export const CONTENT_TYPE = new RegExp(
  `^${MEDIA_TOKEN}/${MEDIA_TOKEN}(\\s*;\\s*${MEDIA_TOKEN}=(${MEDIA_TOKEN}|"[^"\\\\\\x00-\\x1f\\x7f]*"))*$`,
)

/** The content type of a content that comes without one. */
export const UNKNOWN_CONTENT = 'application/octet-stream'

/**
 * Reads a filename, in its composed form.
 * @throws VALIDATION_ERROR
 */
export function readFilename(filename: string): string {
  const name = filename.normalize('NFC')
  const fault = faultOf(name)
  if (fault === undefined) return name
  const detail: Detail = {
    path: '/filename',
    code: 'invalid_filename',
    message: `A filename ${fault}. Send a name of 1 to ${LIMITS.filenameChars} characters without folders.`,
    received: filename.slice(0, 64),
  }
  throw invalid(detail)
}

function faultOf(name: string): string | undefined {
  const { length } = [...name]
  if (length < 1 || length > LIMITS.filenameChars) return `must have 1 to ${LIMITS.filenameChars} characters`
  if (name === '.' || name === '..') return 'must not be "." or ".."'
  if (/[/\\]/.test(name)) return 'must not contain "/" or "\\"'
  if (hasControlCharacters(name) || DIRECTION.test(name)) return 'must not contain control characters'
  return name.isWellFormed() ? undefined : 'must be well-formed Unicode'
}

/**
 * Checks a content type, such as `text/plain; charset=utf-8`.
 * @throws VALIDATION_ERROR
 */
export function readContentType(type: string, path = '/content_type'): string {
  if (type.length <= LIMITS.contentTypeChars && CONTENT_TYPE.test(type)) return type
  throw invalid({
    path,
    code: 'invalid_content_type',
    message: 'A content type must be a media type, such as "application/pdf" or "text/plain; charset=utf-8".',
    received: type.slice(0, 64),
  })
}

/** The media type without parameters, for comparison. */
export const mediaTypeOf = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase()

/** Without a group that repeats: each repetition would take a place on the stack. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Decodes a content in base64.
 * @throws VALIDATION_ERROR
 */
export function readBase64(text: string, path: string): Buffer {
  if (text.length % 4 === 0 && BASE64.test(text)) return Buffer.from(text, 'base64')
  throw invalid({
    path,
    code: 'invalid_base64',
    message: 'The content is not base64. Send the standard alphabet with padding, without line breaks.',
  })
}
