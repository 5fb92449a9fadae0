/** The content type of a local file whose type is not given. */
import { extname } from 'node:path'
import { lookup } from 'mime-types'
import { UNKNOWN_CONTENT } from '../../contract/attachment-rules.ts'
import { decodeText } from '../../foundation/text-encoding.ts'

/** Suffixes of source code that the registry of media types has for something else, or for no text. */
const CODE: Readonly<Record<string, string>> = {
  '.cjs': 'text/javascript',
  '.cts': 'text/x-typescript',
  '.mts': 'text/x-typescript',
  '.rs': 'text/x-rust',
  '.sh': 'text/x-shellscript',
  '.ts': 'text/x-typescript',
}

/**
 * Guesses a type by the suffixes of names, of which the first that is known counts, or else by the beginning of the content:
 * UTF-8 is text.
 */
export function guessContentType(names: readonly string[], beginning: Buffer): string {
  const isText = beginning.length > 0 && decodeText(beginning, true) !== null
  for (const name of names) {
    const found = (isText && CODE[extname(name).toLowerCase()]) || lookup(extname(name))
    if (found) return found
  }
  return isText ? 'text/plain' : UNKNOWN_CONTENT
}
