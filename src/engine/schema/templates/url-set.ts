/** Compares urls as they are sent. Of a url with templates, the part before the first one decides, if it has the host. */
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
