/** Titles of resources, for lists that name them by their ids. */
import { LIMITS } from '../../foundation/limits.ts'
import { findType } from '../core/load-type.ts'
import { policyOn } from '../core/row-policy/apply.ts'
import { read, type Scope } from '../core/scope.ts'
import { statement } from '../storage/database/client.ts'

/** A resource of a base; `recordType` of a record only. */
export type Named = { readonly kind: string; readonly recordType: string | null; readonly id: string }

/** An item of a list that reads its title when it is asked for: those of the whole list at once. */
export type Titled<T> = T & { title(): Promise<string | null> }

const state = (which: string) => `coalesce((SELECT c.data -> w.property FROM plinth.change c
       WHERE ${which} AND c.base_id = $1 AND c.id = w.id COLLATE "C" AND c.data IS NOT NULL`

/** Scalar values of the property `w.property`: of the record, or of what the log last had of it. */
const TITLES = statement(
  'titles',
  `SELECT w.n::int AS n, CASE jsonb_typeof(v.value) WHEN 'string' THEN left(v.value #>> '{}', ${LIMITS.titleChars})
     WHEN 'number' THEN left(v.value #>> '{}', ${LIMITS.titleChars}) END AS title
   FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS w (kind, record_type, id, property, n),
   LATERAL (SELECT CASE WHEN w.kind = 'record' THEN coalesce(
       (SELECT coalesce(r.data -> w.property, 'null') FROM plinth.record r
        WHERE r.base_id = $1 AND r.record_type = w.record_type COLLATE "C" AND r.id = w.id COLLATE "C"),
       ${state(`c.kind = 'record' AND c.record_type = w.record_type COLLATE "C"`)} ORDER BY c.version DESC LIMIT 1)))
     ELSE ${state(`c.kind NOT IN ('record', 'relationship') AND c.kind = w.kind COLLATE "C"`)} ORDER BY c.seq DESC LIMIT 1))
     END AS value) v
   WHERE v.value IS NOT NULL`,
)

/**
 * The titles of resources that the caller sees, in their order: of a record what `display.title` of its type says, of a file its
 * name, of other resources their `name`. Under a row policy, records have none: the property could be hidden.
 */
export async function titlesOf(
  scope: Scope,
  baseId: string,
  resources: readonly (Named | null)[],
): Promise<(string | null)[]> {
  const titles = resources.map((named) => (named?.kind === 'file' ? fileName(named.id) : null))
  const asked: { n: number; named: Named; property: string }[] = []
  for (const [n, named] of resources.entries()) {
    const property = named && (await propertyOf(scope, baseId, named))
    if (property) asked.push({ n, named, property })
  }
  if (asked.length === 0) return titles
  const rows = await read<{ n: number; title: string | null }>(scope, TITLES, [
    baseId,
    asked.map(({ named }) => named.kind),
    asked.map(({ named }) => named.recordType),
    asked.map(({ named }) => named.id),
    asked.map(({ property }) => property),
  ])
  for (const { n, title } of rows) titles[asked[n - 1]?.n ?? -1] = title || null
  return titles
}

/** Items with titles, which are read once one of them is. */
export function withTitles<T>(
  scope: Scope,
  baseId: string,
  items: readonly T[],
  named: (item: T) => Named | null,
): Titled<T>[] {
  let all: Promise<(string | null)[]> | undefined
  const title = async (n: number) => {
    all ??= titlesOf(scope, baseId, items.map(named))
    return (await all)[n] ?? null
  }
  return items.map((item, n) => ({ ...item, title: () => title(n) }))
}

async function propertyOf(scope: Scope, baseId: string, { kind, recordType }: Named): Promise<string | null> {
  if (kind === 'file' || kind === 'relationship') return null
  if (kind === 'attachment') return 'filename'
  if (kind !== 'record') return 'name'
  if (recordType === null || policyOn(scope, baseId, recordType)) return null
  if (!scope.access.allows('read', baseId, recordType)) return null
  return (await findType(scope, baseId, recordType))?.title ?? null
}

const fileName = (path: string): string =>
  [...(path.replace(/\/$/, '').split('/').at(-1) ?? path)].slice(0, LIMITS.titleChars).join('')

/** The title in the data of a record at hand, which its reader sees. */
export function titleIn(data: unknown, property: string | null | undefined): string | null {
  if (property == null || typeof data !== 'object' || data === null || !Object.hasOwn(data, property))
    return null
  const value = (data as Record<string, unknown>)[property]
  if (typeof value !== 'string' && typeof value !== 'number') return null
  return [...String(value).slice(0, 2 * LIMITS.titleChars)].slice(0, LIMITS.titleChars).join('') || null
}
