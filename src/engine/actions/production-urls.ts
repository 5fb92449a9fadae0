/** Keeps actions of previews from calling what production calls. */
import { productionOf } from '../../contract/ids.ts'
import { DomainError } from '../../foundation/errors.ts'
import { type Db, statement } from '../database/client.ts'
import type { RunnableAction } from './running.ts'

// The fragment of a URL is not sent.
const URLS = statement(
  'urls_of_production_actions',
  `SELECT DISTINCT split_part(s ->> 'url', '#', 1) AS url FROM (
     SELECT json_array_elements(steps) AS s FROM plinth.action WHERE base_id = $1
     UNION ALL SELECT json_array_elements(definition -> 'steps') FROM plinth.fork WHERE base_id = $2 AND kind = 'action') t
   WHERE s ->> 'type' = 'http'`,
)

/**
 * Refuses a run in a preview with an http step whose url a step of production has, or had at the fork.
 * @throws CONFLICT
 */
export async function requireOwnUrls(
  { db }: { readonly db: Db },
  { baseId, steps }: RunnableAction,
): Promise<void> {
  const production = productionOf(baseId)
  const calls = steps.filter(({ type }) => type === 'http')
  if (production === baseId || calls.length === 0) return
  const rows = await db.query<{ url: string }>(URLS, [production, baseId])
  const urls = new Set(rows.map(({ url }) => url))
  const held = calls.find(({ url }) => urls.has(String(url).split('#')[0] ?? ''))
  if (!held) return
  const message = `The url of step "${held.name}" is that of an action of production, which a preview does not call. Give the step another url to try it here.`
  throw new DomainError('CONFLICT', message, {
    details: [{ path: `/steps/${held.name}`, code: 'url_of_production', message }],
  })
}
