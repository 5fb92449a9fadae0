/** Prints changes of configuration as lines: one for each resource, and its diff. */

import {
  changeLines,
  countLine,
  keptLines,
  obstacleLines,
  type PlannedChange,
  rewrittenLines,
  warningLines,
} from '../../contract/change-lines.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Answer } from './client.ts'
import type { Asked } from './command.ts'
import { EXIT } from './failure.ts'
import { printLine, show } from './print.ts'

type ChangesBody = {
  changes: readonly PlannedChange[]
  meta?: { warnings?: readonly string[]; records_rewritten?: Readonly<Record<string, number>> }
  dry_run?: true
  id?: string | null
  kept?: readonly { kind: string; id: string }[]
  kind?: 'promotion' | 'rollback'
  secrets?: readonly { kind: string; id: string; secret: string | null }[]
}

type Obstacles = Parameters<typeof obstacleLines>
type Proposal = ChangesBody & { conflicts: Obstacles[0]; breaks: Obstacles[1] }

const COLORS = { create: 'green', update: 'yellow', delete: 'red' } as const

export const changesIn = ({ body }: Answer): readonly PlannedChange[] => (body as ChangesBody).changes

/** Prints what a request would change. */
export const showPlan = (answer: Answer): void => showChanges(answer, 'due')

/** Prints what a promotion would change, and what prevents it. */
export function showProposal(answer: Answer): void {
  const { conflicts, breaks } = answer.body as Proposal
  for (const line of obstacleLines(conflicts, breaks)) printLine(line, 'red')
  showChanges(answer, 'due')
}

/** As a diff has it, and that of a failure for a promotion that would be refused. */
export function proposalExit(answer: Answer): number {
  const { conflicts, breaks } = answer.body as Proposal
  if (conflicts.length > 0 || breaks.length > 0) return EXIT.failed
  return changesIn(answer).length > 0 ? EXIT.pending : EXIT.ok
}

/** Prints what a request has changed; as a dry run, what it would change. */
export function showDone(answer: Answer, { path }: Asked): void {
  const { dry_run: isDry, id, kind, secrets = [] } = answer.body as ChangesBody
  showChanges(answer, isDry ? 'due' : 'done')
  if (isDry || changesIn(answer).length === 0) return
  for (const each of secrets) printLine(`Secret of ${each.kind} ${each.id}, shown once: ${each.secret}`)
  if (typeof id !== 'string') return
  const undo = `plinth rollback ${id} --base ${path.split('/')[1]}`
  printLine(kind === 'promotion' ? `Promotion ${id}. To undo it: ${undo}` : `Rollback ${id}.`)
}

function showChanges(answer: Answer, when: 'due' | 'done'): void {
  const changes = changesIn(answer)
  for (const { text, op } of changeLines(changes)) printLine(text, op === null ? 'dim' : COLORS[op])
  printLine(countLine(changes, when))
  const { kept = [], meta = {} } = answer.body as ChangesBody
  for (const line of rewrittenLines(meta.records_rewritten ?? {}, when)) printLine(line)
  for (const line of keptLines(kept, 'Add --prune')) printLine(line)
  for (const line of warningLines(meta.warnings ?? [])) printLine(line, 'yellow')
}

// Prints who made a change, and the versions of a resource.

export type Actor = { name: string; via: string }
type Versions = { data: { actor: Actor }[] }

/** An actor in one cell: the name of its token, and the interface. */
export const actorCell = ({ name, via }: Actor): string => `${name} (${via})`

/** Prints a list of versions. */
export function showHistory(answer: Answer): void {
  const { data, ...rest } = answer.body as Versions
  const rows = data.map((version) => ({ ...version, actor: actorCell(version.actor) }))
  show({ ...answer, body: { ...rest, data: rows } }, ['version', 'operation', 'at', 'actor', 'diff'])
}

// A diff of a change as text: `priority: normal → high`.

/** A step of a diff, with the value before it where the request asks for that. */
export type ChangeStep = { op: string; path: string; value?: unknown; before?: unknown }

/** The steps of a diff in one line. A creation and a deletion have one step, for the whole, and no text. */
export function changedText(diff: readonly ChangeStep[]): string {
  const steps = diff.filter(({ path }) => path !== '')
  const more =
    steps.length > LIMITS.changeStepsShown ? [`${steps.length - LIMITS.changeStepsShown} more`] : []
  return [...steps.slice(0, LIMITS.changeStepsShown).map(stepText), ...more].join(', ')
}

function stepText(step: ChangeStep): string {
  const after = 'value' in step ? valueText(step.value) : '-'
  // A stream has no values before.
  const isKnown = step.op === 'add' || 'before' in step
  return `${nameOf(step.path)}: ${isKnown ? `${'before' in step ? valueText(step.before) : '-'} → ` : '→ '}${after}`
}

/** The property that a JSON Pointer names, as a filter has it. */
const nameOf = (path: string): string =>
  path
    .replace(/^\/(data\/)?/, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')

function valueText(value: unknown): string {
  const text =
    typeof value === 'string' && /^[^\s,:→]+( [^\s,:→]+)*$/.test(value) ? value : JSON.stringify(value)
  return text.length > LIMITS.changeTextChars ? `${text.slice(0, LIMITS.changeTextChars)}…` : text
}
