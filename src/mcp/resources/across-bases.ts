import { LIMITS } from '../../foundation/limits.ts'
import { mayAnywhere } from '../../graphql/context.ts'
import { graphql, type ResultOf } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'
import type { AddressSession } from '../protocol/address-session.ts'
import { InvalidParams } from '../protocol/provider.ts'

const NextBase = graphql(
  `query NextBase($cursor: String) { bases(limit: 1, cursor: $cursor) { data { id } nextCursor } }`,
)
const nextBase = compile(NextBase)
type Bases = ResultOf<typeof NextBase>['bases']

/** A page of items across bases; `nextCursor` if there may be more. */
export type Found<T> = { items: T[]; nextCursor: string | undefined }
type Ask<T> = (base: string, limit: number, cursor: string | null) => Promise<Found<T>>
/** Start of a page: the cursor in the list of bases, and the cursor within the base. */
type Start = readonly [ofBase: string | null, inBase: string | null]

/**
 * Pages through the base of the address, or on `/mcp` through all bases, newest first. `limit` is
 * approximate. A page also ends after `LIMITS.basesWalked` bases, however few items it has.
 */
export async function acrossBases<T>(
  { base, context }: AddressSession,
  limit: number,
  cursor: string | undefined,
  ask: Ask<T>,
): Promise<Found<T>> {
  if (base !== null) {
    // An endpoint that shows no type as a whole has nothing to list.
    if (!mayAnywhere(context, 'read', base)) return { items: [], nextCursor: undefined }
    return ask(base, limit, cursor ?? null)
  }
  const items: T[] = []
  let at: Start | null = cursor === undefined ? [null, null] : openStart(cursor)
  for (let looked = 0; at !== null && looked < LIMITS.basesWalked && items.length < limit; looked++) {
    const [ofBase, inBase]: Start = at
    const page: Bases = (await nextBase({ cursor: ofBase }, context)).bases
    const [next] = page.data
    if (!next) return { items, nextCursor: undefined }
    const found = await ask(next.id, limit - items.length, inBase)
    items.push(...found.items)
    if (found.nextCursor !== undefined) at = [ofBase, found.nextCursor]
    else at = page.nextCursor === null ? null : [page.nextCursor, null]
  }
  return { items, nextCursor: at === null ? undefined : sealStart(at) }
}

/** Encodes both cursors as one. Each is sealed and bound to the grants by its own list. */
const sealStart = (start: Start): string => Buffer.from(JSON.stringify(start)).toString('base64url')

/** @throws InvalidParams */
function openStart(cursor: string): Start {
  const [ofBase, inBase, ...more] = parts(Buffer.from(cursor, 'base64url').toString())
  const isPart = (part: unknown) => part === null || typeof part === 'string'
  if (more.length > 0 || !isPart(ofBase) || !isPart(inBase)) throw foreignCursor()
  return [ofBase, inBase] as Start
}

function parts(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [undefined]
  } catch {
    throw foreignCursor()
  }
}

/** The error for a cursor that this list did not issue. */
export const foreignCursor = () =>
  new InvalidParams('The cursor belongs to another list. Start again without it.')
