/** Keeps actions of previews from calling what production calls. */
import { productionOf } from '../../contract/ids.ts'
import { DomainError } from '../../foundation/errors.ts'
import type { RunnableAction } from '../core/run-place.ts'
import { type Db, statement } from '../database/client.ts'
import { hasTemplate } from '../templates/parse.ts'
import type { RequireOwnUrl } from './running.ts'

const URLS = statement(
  'urls_of_production_actions',
  `SELECT DISTINCT s ->> 'url' AS url FROM (
     SELECT json_array_elements(steps) AS s FROM plinth.action WHERE base_id = $1
     UNION ALL SELECT json_array_elements(definition -> 'steps') FROM plinth.fork WHERE base_id = $2 AND kind = 'action') t
   WHERE s ->> 'type' = 'http'`,
)

/**
 * Reads what production calls, for a run in a preview. Urls are compared as they are sent: after templates, in the form
 * of a URL parser. Of a url of production with templates, the part before the first one decides, if it has the host.
 */
export async function ownUrlsOf(
  { db }: { readonly db: Db },
  { baseId, steps }: RunnableAction,
): Promise<RequireOwnUrl> {
  const production = productionOf(baseId)
  if (production === baseId || !steps.some(({ type }) => type === 'http')) return () => {}
  const rows = await db.query<{ url: string }>(URLS, [production, baseId])
  const urls = new Set<string>()
  const starts: string[] = []
  for (const { url } of rows) {
    const [start = ''] = url.split('{{')
    if (!hasTemplate(url)) urls.add(sentForm(url))
    else if (/^https?:\/\/[^/?#]+[/?]/i.test(start)) starts.push(sentForm(start))
  }
  return (step, url, path) => {
    const sent = sentForm(url)
    if (urls.has(sent) || starts.some((start) => sent.startsWith(start))) throw ofProduction(step.name, path)
  }
}

/** The URL as it is sent: without its fragment and an empty query. */
function sentForm(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  url.hash = ''
  return url.search === '' ? url.href.replace(/\?$/, '') : url.href
}

function ofProduction(name: string, path: string): DomainError {
  const message = `The url of step "${name}" is that of an action of production, which a preview does not call. Give the step another url to try it here.`
  return new DomainError('CONFLICT', message, {
    details: [{ path, code: 'url_of_production', message }],
  })
}
