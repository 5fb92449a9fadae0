/** The action that a trigger refers to. */
import type { Step } from '../../../contract/action-shapes.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { ACTION } from '../actions/index.ts'
import type { Loaded } from '../lifecycle/kind.ts'

/** Finds what keeps a trigger from running an action. An absent action is a fault of the reference. */
export async function actionFaults(
  loaded: Loaded,
  action: string,
  headers: Readonly<Record<string, string>>,
): Promise<Detail[]> {
  const row = (await loaded.rows(ACTION, [action])).get(action)
  const steps = (row?.steps ?? []) as unknown as readonly Step[]
  const held = steps.find(({ type }) => type.endsWith('_type'))
  return [
    ...(Object.keys(headers).length > 0
      ? [
          {
            path: '/headers',
            code: 'exclusive',
            message: 'headers are sent to a url, and an action gets none. Leave headers out.',
          },
        ]
      : []),
    ...(held
      ? [
          {
            path: '/action',
            code: 'changes_types',
            message: `Step "${held.name}" of action "${action}" changes types, which a trigger may not do. Name an action that writes data only.`,
            received: action,
          },
        ]
      : []),
  ]
}
