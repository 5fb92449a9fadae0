/** Keeps previews from writing to the systems that production writes to. They may read from them. */
import { productionOf } from '../../../contract/ids.ts'
import { DomainError } from '../../../foundation/errors.ts'
import type { Scope } from '../../core/scope.ts'
import { urlSet } from '../../schema/templates/url-set.ts'
import { fillUrl } from '../../schema/templates/url-template.ts'
import { statement } from '../../storage/database/client.ts'
import type { SourceUse } from './find-source.ts'

// What production declares now, and what it declared at the fork.
const TARGETS = statement(
  'targets_of_production',
  `SELECT DISTINCT s -> o ->> 'url' AS url FROM (
     SELECT json_array_elements(sources) AS s FROM plinth.record_type WHERE base_id = $1
     UNION ALL SELECT json_array_elements(definition -> 'sources') FROM plinth.fork WHERE base_id = $2 AND kind = 'record_type') t,
     unnest(ARRAY['create', 'update']) AS o WHERE s -> o ->> 'url' IS NOT NULL`,
)

/** @throws CONFLICT for a write of a preview to a url of production */
export async function requireOwnTarget({ db }: Scope, { type, source, request }: SourceUse): Promise<void> {
  const production = productionOf(type.baseId)
  if (production === type.baseId) return
  const rows = await db.query<{ url: string }>(TARGETS, [production, type.baseId])
  if (!urlSet(rows.map(({ url }) => url))(fillUrl(request.url, { external_id: 'a' }))) return
  const message = `The source "${source.name}" has the url of a source of production, which a preview does not write to. Give it another url to try it here.`
  throw new DomainError('CONFLICT', message, {
    details: [{ path: '/external_source', code: 'url_of_production', message }],
  })
}
