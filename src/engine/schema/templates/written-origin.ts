/** The origin of a url with templates. A host that a template names could be one that gets the secrets of a request. */

/** A URL parser also takes other forms: `https:host`, `https:/host`, `https:\\host`. */
const ORIGIN = /^https?:\/\/[^/?#\\]+(?=[/?#]|$)/i

/** Scheme, host and port, up to the path; null if they are not written out. */
export function writtenOrigin(url: string): string | null {
  const origin = ORIGIN.exec(url)?.[0]
  return origin === undefined || origin.includes('{{') ? null : origin
}
