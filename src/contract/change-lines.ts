/** Changes of configuration as lines that a person reads, on the command line and from an agent. */

import { escapeInvisible } from '../foundation/invisible-characters.ts'
import { LIMITS } from '../foundation/limits.ts'

/** A step of a diff (RFC 6902), with the value before it where that is known. */
export type Step = {
  readonly op: string
  readonly path: string
  readonly value?: unknown
  readonly before?: unknown
}
export type PlannedChange = {
  readonly kind: string
  readonly id: string
  readonly op: keyof typeof SIGNS
  /** Of a record. */
  readonly title?: string
  readonly diff: readonly Step[]
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const
const WORDS = {
  due: { create: 'to create', update: 'to update', delete: 'to delete' },
  done: { create: 'created', update: 'updated', delete: 'deleted' },
} as const

/** Formats a step: `replace /name "Deal" → "Offer"`. */
export function stepLine({ op, path, before, value }: Step): string {
  const texts = [before, value]
    .filter((each) => each !== undefined)
    .map((each) => shortened(JSON.stringify(each)))
  return escapeInvisible([op, path, texts.join(' → ')].filter(Boolean).join(' '))
}
const shortened = (text: string) =>
  text.length > LIMITS.changeValueChars ? `${text.slice(0, LIMITS.changeValueChars)}…` : text

/** A line for each resource, and below it what an update changes; `op` is null there. */
export const changeLines = (
  changes: readonly PlannedChange[],
): { readonly text: string; readonly op: PlannedChange['op'] | null }[] =>
  changes.flatMap(({ kind, id, op, title, diff }) => [
    {
      text: [SIGNS[op], kind, id, title && escapeInvisible(JSON.stringify(title))].filter(Boolean).join(' '),
      op,
    },
    ...(op === 'update' ? diff.map((step) => ({ text: `    ${stepLine(step)}`, op: null })) : []),
  ])

/** Counts the changes: `1 to create, 2 to update`. */
export function countLine(changes: readonly PlannedChange[], when: keyof typeof WORDS): string {
  const counts = (['create', 'update', 'delete'] as const).flatMap((op) => {
    const count = changes.filter((change) => change.op === op).length
    return count > 0 ? [`${count} ${WORDS[when][op]}`] : []
  })
  return counts.length > 0 ? counts.join(', ') : 'No changes.'
}

/** How many records migrations rewrite: a line for each record type. */
export const rewrittenLines = (
  rewritten: Readonly<Record<string, number>>,
  when: keyof typeof WORDS,
): string[] =>
  Object.entries(rewritten).map(
    ([id, count]) =>
      `The migration of record_type ${id} ${when === 'due' ? 'rewrites' : 'rewrote'} ${count} record${count === 1 ? '' : 's'}.`,
  )

/** What is deleted only on request, as one line; `how` is the request, such as "Add --prune". */
export const keptLines = (
  kept: readonly { readonly kind: string; readonly id: string }[],
  how: string,
): string[] => {
  if (kept.length === 0) return []
  const named = kept.slice(0, LIMITS.changesNamed).map(({ kind, id }) => `${kind} ${id}`)
  const more = kept.length > named.length ? ', …' : ''
  return [
    `${kept.length} kept: ${named.join(', ')}${more}. ${how} to delete ${kept.length === 1 ? 'it' : 'them'}.`,
  ]
}

type Conflict = { readonly kind: string; readonly id: string; readonly production: readonly Step[] }
type Break = { readonly path: string; readonly message: string }

/** What prevents a promotion: a line for each change of production, and for each fault of its data. */
export const obstacleLines = (conflicts: readonly Conflict[], breaks: readonly Break[]): string[] => [
  ...conflicts.flatMap(({ kind, id, production }) =>
    production.map((step) => `! ${kind} ${id}: production has changed it too: ${stepLine(step)}`),
  ),
  ...breaks.map(({ path, message }) => escapeInvisible(`! ${path}: ${message}`)),
]

/** What else to know about the changes, as a line each. */
export const warningLines = (warnings: readonly string[]): string[] => warnings.map(escapeInvisible)
