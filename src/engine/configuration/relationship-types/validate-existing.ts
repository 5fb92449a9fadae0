import { isDeepStrictEqual } from 'node:util'
import { oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { read, type Scope } from '../../core/scope.ts'
import { hasOneSource, hasOneTarget } from '../../schema/compiled-types/compiled-relationship-type.ts'
import { type Statement, statement } from '../../storage/database/client.ts'
import type { Fields } from './input.ts'
import { validateExistingData } from './validate-existing-data.ts'

const KEYS = ['source', 'target'] as const
type Side = (typeof KEYS)[number]

const STRANGERS = perSide((side) =>
  statement(
    `links_with_strange_${side}`,
    `SELECT (count(*) OVER ())::int AS count, id, ${side}_record_type, ${side}_id FROM plinth.relationship
     WHERE base_id = $1 AND rel_type = $2 AND ${side}_record_type <> ALL ($3::text[])
     ORDER BY created_at, id LIMIT ${LIMITS.samples}`,
  ),
)
const CROWDED = perSide((side) =>
  statement(
    `links_of_crowded_${side}`,
    `SELECT (count(*) OVER ())::int AS count, min(${side}_record_type) AS ${side}_record_type, min(${side}_id) AS ${side}_id,
       count(*)::int AS links, (array_agg(id ORDER BY id))[1:${LIMITS.samples}] AS ids
     FROM plinth.relationship WHERE base_id = $1 AND rel_type = $2
     GROUP BY ${side}_row HAVING count(*) > 1 ORDER BY min(${side}_id) LIMIT ${LIMITS.samples}`,
  ),
)
const MARK = statement(
  'mark_links_cardinality',
  `UPDATE plinth.relationship SET one_target = $3, one_source = $4
   WHERE base_id = $1 AND rel_type = $2 AND (one_target, one_source) IS DISTINCT FROM ($3::boolean, $4::boolean)`,
)

function perSide(make: (side: Side) => Statement): Record<Side, Statement> {
  return { source: make('source'), target: make('target') }
}

/** `isCheck`: only counts. */
type Mode = { allowsInvalid: boolean; isCheck?: boolean }

/** What existing links are checked for. */
export type Affected = {
  readonly isReshaped: boolean
  readonly isNarrowed: boolean
  readonly isCounted: boolean
}

/** What existing links have to be checked for when a type changes; undefined if nothing. */
export function affectedBy(current: Fields, next: Fields): Affected | undefined {
  const isReshaped = !isDeepStrictEqual(current.dataSchema, next.dataSchema)
  const isNarrowed = KEYS.some(
    (side) => !includesAll(next[`${side}RecordTypes`], current[`${side}RecordTypes`]),
  )
  const isCounted = current.cardinality !== next.cardinality
  return isReshaped || isNarrowed || isCounted ? { isReshaped, isNarrowed, isCounted } : undefined
}

/**
 * Validates existing links against the changed type. If it is no check, the caller has the type's row locked.
 * Returns whether links need another flag or mark.
 * @throws CONFLICT with the count and ten samples of links that violate the ends, the cardinality or the
 * schema
 */
export async function validateExistingLinks(
  scope: Scope,
  { baseId, id }: { baseId: string; id: string },
  { isReshaped, isNarrowed, isCounted }: Affected,
  [current, next]: readonly [current: Fields, next: Fields],
  { allowsInvalid, isCheck = false }: Mode,
): Promise<boolean> {
  if (isNarrowed) for (const side of KEYS) await checkEnds(scope, baseId, id, side, next)
  if (isCounted) {
    await checkCardinality(scope, baseId, id, next)
    if (!isCheck) await markCardinality(scope, baseId, id, next)
  }
  if (!isReshaped) return isCounted
  const mode = { allowsInvalid, isCheck }
  return (
    (await validateExistingData(scope, baseId, id, [current.dataSchema, next.dataSchema], mode)) || isCounted
  )
}

const includesAll = (next: readonly string[], current: readonly string[]): boolean =>
  next.includes('*') || current.every((id) => next.includes(id))

type Sampled = { count: number }

async function checkEnds(scope: Scope, baseId: string, id: string, side: Side, next: Fields) {
  const named = next[`${side}RecordTypes`]
  if (named.includes('*')) return
  const rows = await read<Sampled>(scope, STRANGERS[side], [baseId, id, named])
  if (rows.length === 0) return
  const { count, samples } = counted(rows)
  throw refused(
    `/${side}_record_types`,
    `${relationships(count)} would have a ${side} of a record type that is not listed.`,
    {
      count,
      samples,
      hint: 'List these record types too, or delete these relationships first.',
    },
  )
}

async function checkCardinality(scope: Scope, baseId: string, id: string, { cardinality }: Fields) {
  if (hasOneTarget(cardinality)) await checkOne(scope, baseId, id, 'source', cardinality)
  if (hasOneSource(cardinality)) await checkOne(scope, baseId, id, 'target', cardinality)
}

const markCardinality = ({ db }: Scope, baseId: string, id: string, { cardinality }: Fields) =>
  db.query(MARK, [baseId, id, hasOneTarget(cardinality), hasOneSource(cardinality)])

async function checkOne(scope: Scope, baseId: string, id: string, side: Side, cardinality: string) {
  const rows = await read<Sampled>(scope, CROWDED[side], [baseId, id])
  if (rows.length === 0) return
  const { count, samples } = counted(rows)
  const other = side === 'source' ? 'target' : 'source'
  const what = `${count} ${side}${count === 1 ? ' has' : 's have'} more than one ${other}, which ${cardinality} does not allow.`
  throw refused('/cardinality', what, {
    count,
    samples,
    hint: `Delete relationships until each of these has one ${other}.`,
  })
}

const relationships = (count: number) => `${count} relationship${count === 1 ? '' : 's'}`

function counted(rows: readonly Sampled[]) {
  return { count: rows[0]?.count ?? 0, samples: rows.map(({ count: _, ...sample }) => sample) }
}

function refused(path: string, what: string, more: { count: number; samples: object[]; hint: string }) {
  const message = `${what} Nothing was changed.`
  return oneFault('CONFLICT', message, { path, code: 'relationships_invalid', ...more })
}
