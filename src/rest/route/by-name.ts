import { type CamelFields, camelFields } from '../../contract/field-names.ts'
import type { Conditions } from './preconditions.ts'
import type { Parts } from './request-parts.ts'

type Members<Body> = unknown extends Body
  ? object
  : undefined extends Body
    ? Partial<CamelFields<NonNullable<Body>>>
    : CamelFields<Body>

export type Named<Params, Query, Body> = (Params extends { base_id: string } ? { base: string } : object) &
  Omit<CamelFields<Params>, 'baseId'> &
  CamelFields<Query> &
  Members<Body> &
  Conditions

/**
 * GraphQL variables with the names of the parameters and of the members of the body: `recordType` for `record_type`, and
 * `base` for `base_id`. Either place requests a dry run: false in the body does not override true in the query.
 */
export function byName<Params, Query, Body>(parts: Parts<Params, Query, Body>): Named<Params, Query, Body> {
  const { base_id: base, ...params } = parts.params as { base_id?: string }
  const { dry_run: isDry, ...sent } = { ...parts.query, dry_run: false, ...parts.body }
  const named = { ...camelFields({ ...params, ...sent }), ...parts.conditions }
  return { ...(base !== undefined && { base }), ...named, ...(isDry && { dryRun: true }) } as Named<
    Params,
    Query,
    Body
  >
}
