/** Decides which changes of a resource an undo reverts, and to which states. */
import type { FoundChange } from './find-changes.ts'
import type { Entry, ResourceEntries } from './resource-entries.ts'

/** One change to revert. */
export type Step = {
  readonly change: FoundChange
  readonly act: Act
  /** The pair of the record differs before and after, so that the order of steps matters. */
  readonly movesPair: boolean
}
type Act =
  | { readonly kind: 'delete' }
  /** Bring back the resource in the state of that version. */
  | { readonly kind: 'restore'; readonly version: number }
  /** Set the resource to the state of that version. */
  | { readonly kind: 'update'; readonly version: number }
  /** The revert of the change `by` takes it back: of the type that it migrated. `isLast`: nothing came after it. */
  | { readonly kind: 'migrate'; readonly by: number; readonly isLast: boolean }

/** Why the changes of a resource are not undone. */
export type Obstacle = {
  readonly change: FoundChange
  readonly code: 'overtaken' | 'history_purged' | 'linked' | 'refused'
  /** The entry in the way. */
  readonly by: number | null
  readonly message: string
}

/**
 * Plays the entries of a resource since the first change to undo. A revert undoes the entry that it names
 * as its cause, and all after it. What is left must be changes to undo only: they are reverted, newest first. With `takesLater`,
 * the changes of others that came after are reverted too.
 */
export function stepsOf(ofResource: ResourceEntries, takesLater = false): readonly Step[] | Obstacle {
  const { of, changes, entries, hasBefore } = ofResource
  const left = standing(hasBefore ? entries.slice(1) : entries)
  const isToUndo = ({ seq }: Entry) => changes.has(seq)
  const first = left.findIndex(isToUndo)
  if (first < 0) return []
  const foreign = left.slice(first).find((entry) => !isToUndo(entry))
  if (foreign && !takesLater) return overtaken(of, foreign.seq)
  const steps: Step[] = []
  for (let i = left.length - 1; i >= first; i--) {
    const entry = left[i] as Entry
    const before = left[i - 1] ?? (hasBefore ? entries[0] : undefined)
    const step = stepOf(changes.get(entry.seq) ?? changeOf(of, entry), entry, before)
    if ('code' in step) return step
    steps.push(step)
  }
  return steps
}

const changeOf = (of: FoundChange, { seq, operation, version, cause }: Entry): FoundChange => ({
  ...{ ...of, seq, operation, version, cause },
})

function stepOf(change: FoundChange, entry: Entry, before: Entry | undefined): Step | Obstacle {
  const movesPair = before?.external !== entry.external
  if (entry.operation === 'delete')
    return entry.isKept
      ? { change, act: { kind: 'restore', version: entry.version }, movesPair: entry.external !== null }
      : purged(change)
  const isNew = entry.operation === 'create' || before?.operation === 'delete'
  if (isNew) return { change, act: { kind: 'delete' }, movesPair: entry.external !== null }
  return before?.isKept
    ? { change, act: { kind: 'update', version: before.version }, movesPair }
    : purged(change)
}

type Effect = { readonly added: readonly Entry[] } | { readonly removed: readonly Entry[] }

/** The entries in effect: those that no revert undid, or whose revert was undone. */
function standing(entries: readonly Entry[]): Entry[] {
  const stack: Entry[] = []
  const effects = new Map<string, Effect>()
  for (const entry of entries) {
    const effect = revertIn(stack, effects.get(entry.cause ?? '')) ?? { added: [entry] }
    if ('added' in effect) stack.push(...effect.added)
    effects.set(String(entry.seq), effect)
  }
  return stack
}

/** The effect of a revert of an entry with that effect. Takes what it removes off the stack. */
function revertIn(stack: Entry[], reverted: Effect | undefined): Effect | undefined {
  if (!reverted) return undefined
  if ('removed' in reverted) return { added: reverted.removed }
  const [first] = reverted.added
  const at = first ? stack.indexOf(first) : -1
  return at < 0 ? undefined : { removed: stack.splice(at) }
}

const overtaken = (change: FoundChange, by: number): Obstacle => ({
  change,
  code: 'overtaken',
  by,
  message: `Change ${by} came after it.`,
})
const purged = (change: FoundChange): Obstacle => ({
  change,
  code: 'history_purged',
  by: null,
  message: 'The state before it is no longer kept.',
})
