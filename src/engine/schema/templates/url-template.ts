/** Urls with named places: `https://api.example.com/contacts/{{external_id}}`. */

const PLACE = /\{\{\s*([^{}]*?)\s*\}\}/g

/** The names of the places. */
export const namesIn = (url: string): string[] => [...url.matchAll(PLACE)].map(([, name = '']) => name)

/** The url with values. They are percent-encoded, so that they stay within their part of the path or query. */
export const fillUrl = (url: string, values: Readonly<Record<string, string | number>>): string =>
  url.replace(PLACE, (_, name: string) => encodeURIComponent(String(values[name] ?? '').toWellFormed()))

/** Whether the path has a segment "." or "..", which a URL parser would take out together with the one before. */
export function hasDotSegment(url: string): boolean {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#\\]*/i, '').split(/[?#]/)
  return path.split(/[/\\]/).some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
}
