/** What templates of an action read: known when the action is written. */
import type { Step } from '../../../contract/action-shapes.ts'
import { nearest, unknownName } from '../../../contract/suggest.ts'
import { type Detail, detailsThrownBy } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { pointer } from '../../../json/parse.ts'
import type { Field } from '../../schema/compiled-types/field-path.ts'
import { eachTemplate, parseTemplate, type Reference, referenceOf } from '../../schema/templates/parse.ts'
import { conditionsOf, parseUnfilledWhen } from './when.ts'

/** Finds templates of another form, and those that read what is not there. */
export function templateFaults(steps: readonly Step[], output: unknown, inputSchema: object): Detail[] {
  const faults: Detail[] = []
  const properties = closedProperties(inputSchema)
  const look = (value: unknown, at: string, earlier: readonly Step[], holdsSecrets: boolean): void =>
    eachTemplate(value, at, pointer, (text, place) => {
      const unreadable = detailsThrownBy(() => {
        for (const part of parseTemplate(text, place)) {
          if (typeof part === 'string') continue
          const fault = faultOf(part, place, { earlier, properties, holdsSecrets })
          if (fault) faults.push(fault)
        }
      })
      faults.push(...unreadable)
    })
  for (const [n, step] of steps.entries()) {
    const { name: _, type, when, ...fields } = step
    const earlier = steps.slice(0, n)
    look(fields, `/steps/${n}`, earlier, type === 'http')
    look(when, `/steps/${n}/when`, earlier, false)
    faults.push(...whenFaults(when, `/steps/${n}/when`, { earlier, properties, holdsSecrets: false }))
  }
  look(output, '/output', steps, false)
  return faults
}

/** Finds a malformed condition, and fields of it that are not there. */
function whenFaults(when: unknown, at: string, around: Around): readonly Detail[] {
  if (when === undefined) return []
  const faults: Detail[] = []
  const unreadable = detailsThrownBy(() => {
    for (const { field, name, at: place } of conditionsOf(parseUnfilledWhen(when, at))) {
      const fault = faultOf(
        referenceOf((field as Extract<Field, { kind: 'data' }>).path, name),
        `${place}/field`,
        around,
      )
      if (fault) faults.push(fault)
    }
  })
  return [...unreadable, ...faults]
}

type Around = {
  readonly earlier: readonly Step[]
  readonly properties: readonly string[] | null
  readonly holdsSecrets: boolean
}

function faultOf(
  part: Reference,
  path: string,
  { earlier, properties, holdsSecrets }: Around,
): Detail | null {
  const received = `{{${part.text}}}`
  if (part.kind === 'secret')
    return holdsSecrets
      ? null
      : {
          path,
          code: 'secret_not_here',
          message: 'Secrets can be used in url, headers and body of an http step only.',
          received,
        }
  const [name] = part.path
  if (part.kind === 'input') {
    if (properties === null || name === undefined || properties.includes(String(name))) return null
    return {
      path,
      code: 'unknown_input',
      message: `input_schema has no property "${String(name).slice(0, 64)}".`,
      ...unknownName(String(name), properties),
    }
  }
  const step = earlier.find((each) => each.name === part.step)
  if (!step) {
    const names = earlier.map((each) => each.name)
    const hint = nearest(part.step, names)
    return {
      path,
      code: 'unknown_step',
      message: `No step before this place has the name "${part.step}". A template reads earlier steps.`,
      received,
      allowed: names.slice(0, 50),
      ...(hint !== undefined && { hint }),
    }
  }
  const members = membersOf(step.type)
  if (name === undefined || members.includes(String(name))) return null
  return {
    path,
    code: 'unknown_member',
    message: `A step of type "${step.type}" gives ${members.join(', ')}.`,
    ...unknownName(String(name), members),
  }
}

/** What later steps can read of a step. */
function membersOf(type: Step['type']): readonly string[] {
  if (type === 'query') return ['data', 'meta']
  if (type === 'http') return ['status', 'body']
  return type.startsWith('delete_') || type.endsWith('_relationship') || type.endsWith('_type')
    ? ['id', 'version', 'operation']
    : ['id', 'version', 'operation', 'record']
}

/** The properties of a schema that takes no others; null if it does. */
function closedProperties(schema: object): readonly string[] | null {
  const { additionalProperties, properties } = schema as Record<string, unknown>
  if (additionalProperties !== false || !isObject(properties) || 'patternProperties' in schema) return null
  return Object.keys(properties)
}
