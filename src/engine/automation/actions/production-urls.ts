/** Keeps actions of previews from calling what production calls. */
import { productionOf } from '../../../contract/ids.ts'
import { DomainError } from '../../../foundation/errors.ts'
import type { RunnableAction } from '../../core/run-state.ts'
import { urlSet } from '../../schema/templates/url-set.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { RequireOwnUrl } from './run-context.ts'

const URLS = statement(
  'urls_of_production_actions',
  `SELECT DISTINCT s ->> 'url' AS url FROM (
     SELECT json_array_elements(steps) AS s FROM plinth.action WHERE base_id = $1
     UNION ALL SELECT json_array_elements(definition -> 'steps') FROM plinth.fork WHERE base_id = $2 AND kind = 'action') t
   WHERE s ->> 'type' = 'http'`,
)

/**
 * Reads what production calls, for a run in a preview. Urls are compared after templates.
 */
export async function ownUrlsOf(
  { db }: { readonly db: Db },
  { baseId, steps }: RunnableAction,
): Promise<RequireOwnUrl> {
  const production = productionOf(baseId)
  if (production === baseId || !steps.some(({ type }) => type === 'http')) return () => {}
  const rows = await db.query<{ url: string }>(URLS, [production, baseId])
  const isOfProduction = urlSet(rows.map(({ url }) => url))
  return (step, url, path) => {
    if (isOfProduction(url)) throw ofProduction(step.name, path)
  }
}

function ofProduction(name: string, path: string): DomainError {
  const message = `The url of step "${name}" is that of an action of production, which a preview does not call. Give the step another url to try it here.`
  return new DomainError('CONFLICT', message, {
    details: [{ path, code: 'url_of_production', message }],
  })
}
