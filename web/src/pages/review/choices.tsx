/** What a person chose in a change-set: what goes along, and which side counts where both changed. */
import { useState } from 'react'
import { isOfRecords, keyOf, type Named, named } from '../../parts/proposal.ts'
import { words } from '../../words.ts'
import type { Conflict, Edit, Proposal } from './load.ts'

type Side = 'preview' | 'production'

export type Choices = {
  /** Keys of what stays in the change-set. */
  left: ReadonlySet<string>
  /** The side that counts, by the path of the conflict, or of a deletion that takes more along by now. */
  taken: Readonly<Record<string, Side>>
  onLeave(key: string): void
  onTake(path: string, side: Side): void
}

export function useChoices(): Choices {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [taken, setTaken] = useState<Readonly<Record<string, Side>>>({})
  const onLeave = (key: string) => setLeft((before) => before.symmetricDifference(new Set([key])))
  const onTake = (path: string, side: Side) => setTaken((before) => ({ ...before, [path]: side }))
  return { left, taken, onLeave, onTake }
}

/** Where details name a record. */
export const placeOf = ({ id }: Pick<Edit, 'id'>): string => `/${id}`

/** The conflicts of records and links, each at its path. */
export const conflictsOf = ({ conflicts }: Proposal): Conflict[] =>
  conflicts.flatMap((each) => (each.path === undefined ? [] : [{ ...each, path: each.path }]))

/** The change that an obstacle is in the way of, if it is of a record or a relationship. */
export const editOf = ({ changes }: Proposal, { path }: { path: string }): Edit | undefined =>
  changes.find((edit) => isOfRecords(edit) && `${path}/`.startsWith(`${placeOf(edit)}/`))

/** `data.stage` of a conflict of one field. */
export function fieldOf({ kind, id, path }: Pick<Conflict, 'kind' | 'id' | 'path'>): string | undefined {
  const whole = kind === 'record' ? `/${id}` : `/${kind}/${id}`
  return path.length > whole.length ? path.slice(whole.length + 1).replaceAll('/', '.') : undefined
}

/** How many conflicts wait for a choice. */
export const undecided = (plan: Proposal, { left, taken }: Choices): number =>
  conflictsOf(plan).filter((each) => !left.has(keyOf(each)) && taken[each.path] === undefined).length

export const isChosen = ({ left, taken }: Choices): boolean => left.size + Object.keys(taken).length > 0

/** The part of a promotion that the choices make. `isNamed`: by name also where all goes along. */
export function partOf(
  plan: Proposal | undefined,
  { left, taken }: Choices,
  isNamed = false,
): { resources?: Named[]; resolve?: object[] } {
  const rest = (plan?.changes ?? []).filter((edit) => !left.has(keyOf(edit)))
  const conflicts = plan ? conflictsOf(plan) : []
  const grown = rest.filter((edit) => conflicts.every(({ path }) => path !== placeOf(edit)))
  const asked = [...conflicts, ...grown.map((edit) => ({ ...edit, path: placeOf(edit) }))]
  const resolve = asked.flatMap((each) => {
    const take = taken[each.path]
    const field = fieldOf(each)
    return take === undefined || left.has(keyOf(each))
      ? []
      : [{ ...named(each), ...(field !== undefined && { field }), take }]
  })
  return {
    ...((left.size > 0 || isNamed) && { resources: rest.map(named) }),
    ...(resolve.length > 0 && { resolve }),
  }
}

/** Whether a change goes along, or stays where it was proposed. */
export const Along = ({ of, choices }: { of: Edit; choices: Choices }) => (
  <label className="row end still">
    <input
      type="checkbox"
      checked={!choices.left.has(keyOf(of))}
      onChange={() => choices.onLeave(keyOf(of))}
    />{' '}
    {words.review.along}
  </label>
)
