/** What a read of an external source takes, on every surface. */
import { invalid } from '../foundation/errors.ts'

const ADVICE: Readonly<Record<string, string>> = {
  filter: ' Filter what the source returns.',
  sort: ' Sort what the source returns.',
  cursor: ' Send offset.',
}

/**
 * Refuses arguments that only reads of stored records take. `prefix` is that of the path of an argument.
 * @throws VALIDATION_ERROR for the first one that is sent
 */
export function refuseForSource(
  source: string,
  sent: Readonly<Record<string, unknown>>,
  prefix: string,
): void {
  const name = Object.keys(sent).find((each) => sent[each] !== undefined)
  if (name === undefined) return
  throw invalid({
    path: `${prefix}${name}`,
    code: 'not_of_source',
    message: `The source "${source.slice(0, 64)}" answers without ${name}, because its records are not stored here. Leave ${name} out.${ADVICE[name] ?? ''}`,
  })
}

const STORED_ONLY = ['filter', 'sort', 'expand', 'include', 'snippets', 'as_of', 'cursor']

/** The arguments of a list that only stored records take. */
export const storedOnly = (asked: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(STORED_ONLY.map((name) => [name, asked[name]]))
