/** The shape of steps. A field that holds templates is checked when it is rendered. */
import { STEP_SHAPES, type Step } from '../../../contract/action-shapes.ts'
import { unknownName } from '../../../contract/suggest.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { type Detail, detailsThrownBy } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { pointer } from '../../../json/parse.ts'
import { holdsTemplate } from '../../schema/templates/parse.ts'

/** Finds unknown, missing and malformed fields of a step. */
export function stepFaults(step: Step, n: number): Detail[] {
  const { name: _, ...fields } = step
  const { shape } = STEP_SHAPES[step.type]
  const known = [...Object.keys(shape).filter((key) => key !== 'name'), 'when']
  const faults = Object.keys(fields).flatMap((key): Detail[] =>
    known.includes(key)
      ? []
      : [
          {
            path: `/steps/${n}${pointer(key)}`,
            code: 'unknown_key',
            message: `A step of type "${step.type}" has no field "${key.slice(0, 64)}".`,
            ...unknownName(key, known),
          },
        ],
  )
  for (const [key, field] of Object.entries(shape)) {
    if (key === 'name' || holdsTemplate(fields[key])) continue
    if (fields[key] !== undefined)
      faults.push(...detailsThrownBy(() => check(field, fields[key], inBody(`/steps/${n}/${key}`))))
    else if (!field.safeParse(undefined).success)
      faults.push({
        path: `/steps/${n}/${key}`,
        code: 'required',
        message: `A step of type "${step.type}" needs ${key}.`,
      })
  }
  return faults
}

/** Fields of a step that hold the id of a record or relationship. */
export const ID_FIELDS = ['id', 'source_id', 'target_id'] as const

/** The step that a `$ref` of a field names; undefined if it has none. */
export const refIn = (field: unknown): string | undefined =>
  isObject(field) && Object.keys(field).length === 1 && typeof field['$ref'] === 'string'
    ? field['$ref']
    : undefined

/** Finds a `$ref` that names no earlier step with an id. */
export function refFaults(steps: readonly Step[], n: number): Detail[] {
  const step = steps[n]
  if (!step) return []
  const earlier = steps.slice(0, n).flatMap(({ name, type }) => (hasId(type) ? [name] : []))
  return ID_FIELDS.flatMap((key): Detail[] => {
    const name = refIn(step[key])
    if (name === undefined || earlier.includes(name)) return []
    return [
      {
        path: `/steps/${n}/${key}/$ref`,
        code: 'unknown_ref',
        message: `No step before this one writes under the name "${name.slice(0, 64)}". A $ref names an earlier step.`,
        ...unknownName(name, earlier),
      },
    ]
  })
}

const hasId = (type: Step['type']): boolean => type !== 'query' && type !== 'http'

type Named = { readonly kind: 'record_type' | 'relationship_type'; readonly id: string; readonly at: string }

/** The types that steps name, without those that an earlier step makes. */
export function typesNamed(steps: readonly Step[]): Named[] {
  const made = new Set<string>()
  return steps.flatMap((step, n) => {
    if (step.type.startsWith('upsert_') && step.type.endsWith('_type') && typeof step['id'] === 'string')
      made.add(`${step.type.slice('upsert_'.length)} ${step['id']}`)
    const named = (key: string, kind: Named['kind'], of: Record<string, unknown>, at: string): Named[] => {
      const id = of[key]
      if (typeof id !== 'string' || holdsTemplate(id) || made.has(`${kind} ${id}`)) return []
      return [{ kind, id, at: `${at}/${key}` }]
    }
    const at = `/steps/${n}`
    const links = Array.isArray(step['relationships']) ? step['relationships'].filter(isObject) : []
    return [
      ...['record_type', 'source_record_type', 'target_record_type'].flatMap((key) =>
        named(key, 'record_type', step, at),
      ),
      ...named('rel_type', 'relationship_type', step, at),
      ...links.flatMap((link, i) => [
        ...named('record_type', 'record_type', link, `${at}/relationships/${i}`),
        ...named('rel_type', 'relationship_type', link, `${at}/relationships/${i}`),
      ]),
    ]
  })
}
