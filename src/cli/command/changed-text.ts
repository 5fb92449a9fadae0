/** A diff of a change as text: `priority: normal → high`. */

/** A step of a diff, with the value before it where the request asks for that. */
export type ChangeStep = { op: string; path: string; value?: unknown; before?: unknown }

const MOST_STEPS = 8
const MOST_CHARS = 60

/** The steps of a diff in one line. A creation and a deletion have one step, for the whole, and no text. */
export function changedText(diff: readonly ChangeStep[]): string {
  const steps = diff.filter(({ path }) => path !== '')
  const more = steps.length > MOST_STEPS ? [`${steps.length - MOST_STEPS} more`] : []
  return [...steps.slice(0, MOST_STEPS).map(stepText), ...more].join(', ')
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
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text
}
