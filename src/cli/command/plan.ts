/** Prints changes of configuration as a plan: one line for each resource, and its diff. */
import type { Answer } from './client.ts'
import { printLine } from './print.ts'
import { type Step, stepLine } from './step.ts'

type Change = { kind: string; id: string; op: 'create' | 'update' | 'delete'; diff: readonly Step[] }
type Plan = { changes: readonly Change[]; dry_run?: true; id?: string; kind?: 'promotion' | 'rollback' }

const SIGNS = { create: '+', update: '~', delete: '-' } as const
const COLORS = { create: 'green', update: 'yellow', delete: 'red' } as const
const WORDS = {
  due: { create: 'to create', update: 'to update', delete: 'to delete' },
  done: { create: 'created', update: 'updated', delete: 'deleted' },
} as const

export const changesIn = ({ body }: Answer): readonly Change[] => (body as Plan).changes

/** Prints what a request would change. */
export const showPlan = (answer: Answer): void => showChanges(answer, 'due')

/** Prints what a request has changed; as a dry run, what it would change. */
export function showDone(answer: Answer): void {
  const { dry_run: isDry, id, kind } = answer.body as Plan
  showChanges(answer, isDry ? 'due' : 'done')
  if (isDry || id === undefined || changesIn(answer).length === 0) return
  printLine(kind === 'promotion' ? `Promotion ${id}. To undo it: plinth rollback ${id}` : `Rollback ${id}.`)
}

function showChanges(answer: Answer, when: keyof typeof WORDS): void {
  const changes = changesIn(answer)
  for (const { kind, id, op, diff } of changes) {
    printLine(`${SIGNS[op]} ${kind} ${id}`, COLORS[op])
    if (op === 'update') for (const step of diff) printLine(`    ${stepLine(step)}`, 'dim')
  }
  const counts = (['create', 'update', 'delete'] as const).flatMap((op) => {
    const count = changes.filter((change) => change.op === op).length
    return count > 0 ? [`${count} ${WORDS[when][op]}`] : []
  })
  printLine(counts.length > 0 ? counts.join(', ') : 'No changes.')
}
