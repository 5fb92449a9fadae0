import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../foundation/is-object.ts'
import { pointer } from '../../json/parse.ts'

/** One operation of a JSON Patch (RFC 6902). */
export type DiffStep = (
  | { op: 'add' | 'replace'; path: string; value: unknown }
  | { op: 'remove'; path: string }
) & {
  /** The value that the step replaces or removes, on request. */
  before?: unknown
}

/** Size limit of a patch in characters, in addition to the size of the new document. */
const SPARE_CHARS = 16 * 1024
/** `{"op":"replace","path":,"value":},` */
const FRAME_CHARS = 35

/**
 * Computes the RFC 6902 patch from `previous` to `next`. Null means absent: a creation adds the whole
 * document at `""`, a deletion removes `""`. Linear in time: a minimal diff of two lists is quadratic, too
 * slow for lists of 100,000 numbers. Linear in size: each step repeats its path, so when the steps exceed the
 * size of the document, its members are replaced whole.
 */
export function diffOf(previous: object | null, next: object | null): DiffStep[] {
  if (previous === null) return next === null ? [] : [{ op: 'add', path: '', value: next }]
  if (next === null) return [{ op: 'remove', path: '' }]
  const steps = new Steps(next)
  compare(previous, next, '', steps)
  return steps.areTooLong ? membersOf(previous as Json, next as Json) : steps.list
}

/** Collects steps up to a size limit. */
class Steps {
  readonly list: DiffStep[] = []
  areTooLong = false
  readonly #next: object
  #chars = 0
  #most = SPARE_CHARS
  #isWhole = false

  constructor(next: object) {
    this.#next = next
  }
  push(step: DiffStep): void {
    this.list.push(step)
    this.#chars += step.path.length + FRAME_CHARS
    if (this.#chars <= this.#most) return
    // Most patches are short. Measure the document only for a long one.
    if (!this.#isWhole) this.#most += JSON.stringify(this.#next).length
    this.#isWhole = true
    this.areTooLong = this.#chars > this.#most
  }
}

function membersOf(previous: Json, next: Json): DiffStep[] {
  const gone = Object.keys(previous).filter((key) => !Object.hasOwn(next, key))
  return [
    ...gone.map((key) => ({ op: 'remove' as const, path: pointer(key) })),
    ...Object.entries(next).flatMap(([key, value]): DiffStep[] => {
      if (!Object.hasOwn(previous, key)) return [{ op: 'add', path: pointer(key), value }]
      return isDeepStrictEqual(previous[key], value) ? [] : [{ op: 'replace', path: pointer(key), value }]
    }),
  ]
}

/**
 * Adds to each step the value it replaces or removes. Its path leads there in `previous`, because `diffOf`
 * changes lists in place and shortens them from their end.
 */
export const withBefore = (steps: readonly DiffStep[], previous: object): DiffStep[] =>
  steps.map((step) => (step.op === 'add' ? step : { ...step, before: valueAt(previous, step.path) }))

function valueAt(document: unknown, path: string): unknown {
  let value = document
  for (const key of path.split('/').slice(1))
    value = (value as Json)[key.replaceAll('~1', '/').replaceAll('~0', '~')]
  return value
}

type Json = Readonly<Record<string, unknown>>
function compare(previous: unknown, next: unknown, at: string, steps: Steps): void {
  if (steps.areTooLong) return
  if (Array.isArray(previous) && Array.isArray(next)) compareLists(previous, next, at, steps)
  else if (isObject(previous) && isObject(next)) compareObjects(previous, next, at, steps)
  else if (previous !== next) steps.push({ op: 'replace', path: at, value: next })
}

function compareObjects(previous: Json, next: Json, at: string, steps: Steps): void {
  const below = (key: string) => `${at}${pointer(key)}`
  for (const key of Object.keys(previous))
    if (!Object.hasOwn(next, key)) steps.push({ op: 'remove', path: below(key) })
  for (const [key, value] of Object.entries(next)) {
    if (Object.hasOwn(previous, key)) compare(previous[key], value, below(key), steps)
    else steps.push({ op: 'add', path: below(key), value })
  }
}

/**
 * Skips the common prefix and suffix. Replaces the elements between them in place, then removes or adds the
 * rest.
 */
function compareLists(
  previous: readonly unknown[],
  next: readonly unknown[],
  at: string,
  steps: Steps,
): void {
  const shorter = Math.min(previous.length, next.length)
  const same = (i: number, j: number) => isDeepStrictEqual(previous[i], next[j])
  let head = 0
  while (head < shorter && same(head, head)) head++
  let tail = 0
  while (tail < shorter - head && same(previous.length - 1 - tail, next.length - 1 - tail)) tail++
  const changed = shorter - tail
  for (let i = head; i < changed; i++) compare(previous[i], next[i], `${at}/${i}`, steps)
  for (let i = previous.length - tail - 1; i >= changed; i--) steps.push({ op: 'remove', path: `${at}/${i}` })
  for (let i = changed; i < next.length - tail; i++)
    steps.push({ op: 'add', path: `${at}/${i}`, value: next[i] })
}

/** Columns of a log entry with the state of a record. */
export type LoggedState = {
  operation: string
  data: unknown
  external_id: string | null
  external_source: string | null
  cancelled_at: Date | string | null
}

/**
 * The document that record diffs compare: the record after an entry; null after a deletion or without an
 * entry.
 */
export function recordDocument(entry: LoggedState | undefined): object | null {
  if (!entry || entry.operation === 'delete') return null
  return {
    data: entry.data,
    status: entry.cancelled_at ? 'cancelled' : 'active',
    external_id: entry.external_id,
    external_source: entry.external_source,
  }
}
