import { type CamelFields, camelFields } from '../../contract/field-names.ts'

type Members<Body> = unknown extends Body
  ? object
  : undefined extends Body
    ? Partial<CamelFields<NonNullable<Body>>>
    : CamelFields<Body>

type Variables<Params, Query, Body> = { base: string } & Omit<CamelFields<Params>, 'baseId'> &
  CamelFields<Query> &
  Members<Body>

/**
 * GraphQL variables with the names of the parameters and of the members of the body: `recordType` for `record_type`, and
 * `base` for `base_id`. Either place requests a dry run: false in the body does not override true in the query.
 */
export function byName<Params extends { base_id: string }, Query extends object, Body>({
  params: { base_id: base, ...params },
  query,
  body,
}: {
  params: Params
  query: Query
  body: Body
}): Variables<Params, Query, Body> {
  const { dry_run: isDry, ...sent } = { ...query, dry_run: false, ...body }
  return { base, ...camelFields({ ...params, ...sent }), ...(isDry && { dryRun: true }) } as Variables<
    Params,
    Query,
    Body
  >
}
