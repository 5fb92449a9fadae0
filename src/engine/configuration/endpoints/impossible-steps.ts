/** Steps of actions that the policies of an endpoint can never let through, known before any run. */
import type { Step } from '../../../contract/action-shapes.ts'
import type { RunAs } from '../../../contract/endpoint-shapes.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { firstWarnings } from '../../schema/json-schema/schema-warnings.ts'
import { holdsTemplate } from '../../schema/templates/parse.ts'
import type { NamedTool } from './named-tools.ts'

type Offered = { readonly action: { readonly id: string; readonly steps: unknown }; readonly runAs: RunAs }

/** A warning for each step that must fail. */
export function impossibleSteps(actions: readonly Offered[], tools: readonly NamedTool[]): string[] {
  const ofType = Map.groupBy(tools, ({ recordType }) => recordType)
  return firstWarnings(
    actions.flatMap(({ action: { id, steps }, runAs }) =>
      (steps as readonly Step[]).flatMap((step) => {
        const why =
          runAs === 'caller'
            ? whyNever(step, ofType.get(String(step['record_type'])) ?? [])
            : step.type.endsWith('_type')
              ? 'changes types, for which the rights of an action do not suffice'
              : undefined
        return why === undefined
          ? []
          : `Step "${step.name}" of action "${id}" can never succeed here: it ${why}.`
      }),
    ),
  )
}

function whyNever(step: Step, tools: readonly NamedTool[]): string | undefined {
  const policies = new Set(tools.map(({ selection }) => selection))
  const written = ['data', 'append', 'remove'].flatMap((key) =>
    isObject(step[key]) ? Object.keys(step[key]) : [],
  )
  const read = step.type === 'query' ? fieldsIn([step['filter'], step['sort']]) : []
  for (const { fields, filter, write_filter } of policies) {
    const isHidden = (name: string) =>
      fields != null && !fields.includes(`data.${name}`) && !fields.includes('data')
    const hidden = [...written, ...read].find(isHidden)
    if (hidden !== undefined)
      return `uses "${hidden}", which the endpoint hides. Add "data.${hidden}" to fields, or run the action by its own rights (run_as)`
    const broken = step.type === 'query' ? undefined : brokenCondition(write_filter ?? filter, step['data'])
    if (broken !== undefined)
      return `sets "${broken}" to a value outside the filter. Widen write_filter, or run the action by its own rights (run_as)`
  }
  return undefined
}

/** The properties of data that a filter or a sort names. */
function fieldsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsIn)
  if (!isObject(value)) return []
  const name = typeof value['field'] === 'string' ? /^data\.([^.[\]]+)/.exec(value['field'])?.[1] : undefined
  return [...(name === undefined ? [] : [name]), ...Object.values(value).flatMap(fieldsIn)]
}

/** The property that a condition of the filter, one that must hold, excludes with the value that is written out. */
function brokenCondition(filter: unknown, data: unknown): string | undefined {
  if (!isObject(filter) || !isObject(data)) return undefined
  if (Array.isArray(filter['and']))
    return filter['and'].map((each) => brokenCondition(each, data)).find((name) => name !== undefined)
  const { field, op, value } = filter
  const name = typeof field === 'string' ? /^data\.([^.[\]]+)$/.exec(field)?.[1] : undefined
  if (name === undefined || !Object.hasOwn(data, name)) return undefined
  const written = data[name]
  if (typeof written === 'object' || holdsTemplate(written)) return undefined
  const isIn = Array.isArray(value) ? value.includes(written) : value === written
  const isBroken = op === 'eq' || op === 'in' ? !isIn : op === 'neq' || op === 'not_in' ? isIn : false
  return isBroken ? name : undefined
}
