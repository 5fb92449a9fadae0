/** The secrets that the steps of an action name. */
import type { Step } from '../../../contract/action-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import { eachTemplate } from '../../schema/templates/parse.ts'
import type { Loaded } from '../lifecycle/kind.ts'
import { referenceFaults, secretsIn } from '../vault-secrets/index.ts'

type Placed = { readonly path: string; readonly text: string }

/** The strings of a step that name secrets. Only http steps take them. */
function placesIn(step: Step, at: string): Placed[] {
  const placed: Placed[] = []
  if (step.type === 'http')
    eachTemplate(step, at, pointer, (text, path) => {
      if (secretsIn(text).length > 0) placed.push({ path, text })
    })
  return placed
}

/** The strings of a step that name secrets. */
export const secretTexts = (step: Step): string[] => placesIn(step, '').map(({ text }) => text)

/** Finds secrets that are not open to the base. */
export const secretFaults = ({ scope, baseId }: Loaded, steps: readonly Step[]): Promise<Detail[]> =>
  referenceFaults(
    scope.db,
    baseId,
    steps.flatMap((step, n) => placesIn(step, `/steps/${n}`)),
  )
