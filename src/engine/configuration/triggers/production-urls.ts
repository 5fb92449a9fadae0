/** Keeps triggers of previews from calling the receivers of production. */
import { productionOf } from '../../../contract/ids.ts'
import { oneFault } from '../../../foundation/errors.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Trigger as Row } from '../../prisma/client.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { Loaded } from '../lifecycle/kind.ts'

/** Why a trigger of a preview sends nothing. */
export const CALLS_PRODUCTION =
  'The url is that of a trigger of production, which a preview does not call. Give this trigger another url to try it here.'

// Two writes, one in production and one in a preview, would not see the URLs of each other. Taken after the locks of the
// configuration, so it adds no deadlock.
const LOCK_URLS = statement(
  'lock_trigger_urls',
  `SELECT pg_advisory_xact_lock(hashtextextended('trigger_urls:' || $1, 0))::text`,
)

// The fragment of a URL is not sent.
const URLS = statement(
  'urls_of_production',
  `SELECT split_part(url, '#', 1) AS url FROM plinth.trigger WHERE base_id = $1
   UNION SELECT split_part(definition ->> 'url', '#', 1) FROM plinth.fork WHERE base_id = $2 AND kind = 'trigger'`,
)

const LOCK_SHARED = statement(
  'lock_triggers_of_previews',
  `UPDATE plinth.trigger t SET calls_production = true
   FROM plinth.base b WHERE b.production_base = $1 AND t.base_id = b.id AND NOT t.calls_production
     AND split_part(t.url, '#', 1) IN (SELECT split_part(p.url, '#', 1) FROM plinth.trigger p WHERE p.base_id = $1)`,
)

/** Whether a trigger of a preview would call a URL that production calls, or called at the fork. */
export async function callsProduction(loaded: Loaded, url: string | null): Promise<boolean> {
  if (url === null || productionOf(loaded.baseId) === loaded.baseId) return false
  const urls = await loaded.once(urlsOfProduction)
  return urls.has(url.split('#')[0] ?? '')
}

async function urlsOfProduction({ db }: WriteScope, previewId: string): Promise<ReadonlySet<string>> {
  const production = productionOf(previewId)
  await db.query(LOCK_URLS, [production])
  const rows = await db.query<{ url: string | null }>(URLS, [production, previewId])
  return new Set(rows.flatMap(({ url }) => url ?? []))
}

/** Holds triggers of previews whose URL production calls from now on. */
export async function lockPreviews({ db }: WriteScope, baseId: string): Promise<void> {
  if (productionOf(baseId) !== baseId) return
  await db.query(LOCK_URLS, [baseId])
  await db.query(LOCK_SHARED, [baseId])
}

/** @throws CONFLICT for a trigger that would call production */
export async function requireOwnUrl({ orm }: Db, { baseId, id }: Pick<Row, 'baseId' | 'id'>): Promise<void> {
  if ((await orm.trigger.count({ where: { baseId, id, callsProduction: true } })) === 0) return
  throw oneFault('CONFLICT', CALLS_PRODUCTION, { path: '/id', code: 'url_of_production' })
}
