import { type Db, statement } from '../../database/client.ts'

const KEYS = statement(
  'profile_instants',
  `SELECT plinth.time_key(plinth.instant(v, $2)) AS key FROM unnest($1::text[]) WITH ORDINALITY AS t (v, n) ORDER BY n`,
)

/**
 * Maps time strings to sort keys, which are equal and ordered as the instants are. `zone` applies to times
 * without an offset.
 */
export async function readInstants(
  db: Db,
  texts: readonly string[],
  zone: string,
): Promise<Map<string, string>> {
  if (texts.length === 0) return new Map()
  const rows = await db.query<{ key: string | null }>(KEYS, [texts, zone])
  return new Map(
    texts.flatMap((text, i) => {
      const key = rows[i]?.key
      return key ? [[text, key] as const] : []
    }),
  )
}
