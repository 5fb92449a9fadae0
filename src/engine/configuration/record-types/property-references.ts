/** Configuration that names a property of a record type: a rename or a removal leaves it behind. */
import type { Source } from '../../../contract/source-shapes.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { statement } from '../../storage/database/client.ts'

const KINDS = ['endpoint', 'toolset', 'trigger', 'action', 'inbound_webhook', 'seed'] as const

// Definitions name a property as a path, data.x, or as a key. Both may also be of another type: a hint, not a proof.
const NAMING = statement(
  'configuration_naming_property',
  `SELECT kind, id FROM (${KINDS.map(
    (kind) =>
      `SELECT '${kind}' AS kind, id, to_jsonb(c)::text AS text FROM plinth.${kind} c WHERE base_id = $1`,
  ).join(' UNION ALL ')}) d
   WHERE position(to_jsonb($2::text)::text IN text) > 0
     AND (position('data.' || $3 IN text) > 0 OR position(to_jsonb($3::text)::text IN text) > 0)
   ORDER BY kind, id LIMIT ${LIMITS.samples}`,
)

type Found = { kind: (typeof KINDS)[number]; id: string }

/**
 * Warnings that name what still seems to use the old name of a property: sources of the type without a mapping, and
 * for callers that may read all of it, other configuration.
 */
export async function warnOfPropertyReferences(
  { db, access }: WriteScope,
  { baseId, id, sources }: { baseId: string; id: string; sources: readonly Source[] },
  renames: readonly { from: string; to: string }[],
): Promise<string[]> {
  const unmapped = sources
    .filter((source) => !isMapped(source))
    .map(({ name }) => ({ kind: 'source', id: name }))
  const readsAll = access.allows('read', baseId, '*')
  const warnings: string[] = []
  for (const { from, to } of renames) {
    const found = [...unmapped, ...(readsAll ? await db.query<Found>(NAMING, [baseId, id, from]) : [])]
    if (found.length === 0) continue
    const names = found.map(({ kind, id: name }) => `${kind.replace('_', ' ')} "${name}"`).join(', ')
    warnings.push(`These may still use "${from}", which is called "${to}" now: ${names}. Change them too.`)
  }
  return warnings
}

/** A mapping says which field of the source is the property. Without one, they have the same names. */
const isMapped = ({ field_mapping: { to_plinth, to_external } = {}, create, update }: Source): boolean =>
  Object.keys(to_plinth ?? {}).some((name) => name !== 'external_id') &&
  (to_external !== undefined || (create === undefined && update === undefined))
