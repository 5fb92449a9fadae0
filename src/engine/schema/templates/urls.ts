/** Compares urls as they are sent. Of a url with templates, the part before the first one decides, if it has the host. */
import { own } from '../../../foundation/own.ts'
import { hasTemplate } from './parse.ts'

/** Whether one of the urls may be sent as the given one. */
export function urlSet(urls: Iterable<string>): (url: string) => boolean {
  const whole = new Set<string>()
  const starts: string[] = []
  for (const url of urls) {
    const [start = ''] = url.split('{{')
    if (!hasTemplate(url)) whole.add(sentForm(url))
    else if (/^https?:\/\/[^/?#]+[/?]/i.test(start)) starts.push(sentForm(start))
  }
  return (url) => {
    const sent = sentForm(url)
    return whole.has(sent) || starts.some((start) => sent.startsWith(start))
  }
}

/** The URL as it is sent: without its fragment and an empty query. */
function sentForm(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  url.hash = ''
  return url.search === '' ? url.href.replace(/\?$/, '') : url.href
}

// Urls with named places: `https://api.example.com/contacts/{{external_id}}`.

const PLACE = /\{\{([^{}]*)\}\}/g

/** The names of the places. */
export const namesIn = (url: string): string[] => [...url.matchAll(PLACE)].map(([, name = '']) => name.trim())

/** The url with values. They are percent-encoded, so that they stay within their part of the path or query. */
export const fillUrl = (url: string, values: Readonly<Record<string, string | number>>): string =>
  url.replace(PLACE, (_, name: string) =>
    encodeURIComponent(String(own(values, name.trim()) ?? '').toWellFormed()),
  )

/** Whether the path has a segment "." or "..", which a URL parser would take out together with the one before. */
export function hasDotSegment(url: string): boolean {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#\\]*/i, '').split(/[?#]/)
  return path.split(/[/\\]/).some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
}

// The origin of a url with templates. A host that a template names could be one that gets the secrets of a request.

/** A URL parser also takes other forms: `https:host`, `https:/host`, `https:\\host`. */
const ORIGIN = /^https?:\/\/[^/?#\\]+(?=[/?#]|$)/i

/** Scheme, host and port, up to the path; null if they are not written out. */
export function writtenOrigin(url: string): string | null {
  const origin = ORIGIN.exec(url)?.[0]
  return origin === undefined || origin.includes('{{') ? null : origin
}
