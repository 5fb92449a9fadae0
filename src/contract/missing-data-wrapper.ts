import type { z } from 'zod'
import type { Detail } from '../foundation/errors.ts'
import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { isClose, isShortFor, meantField } from './suggest.ts'

/**
 * One detail for a body that has the content of a record beside its fields instead of in `data`; undefined for
 * any other body, and where a key may be a misspelt field.
 */
export function missingDataWrapper(shape: z.ZodType, value: unknown, path: string): Detail | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.hasOwn(value, 'data'))
    return undefined
  const { shape: fields } = shape.def as unknown as { shape?: Record<string, z.ZodType> }
  if (!fields?.['data']?.safeParse({}).success) return undefined
  const known = Object.keys(fields)
  const entries = Object.entries(value)
  const isField = ([name]: [string, unknown]) => Object.hasOwn(fields, name)
  const content = entries.filter((entry) => !isField(entry))
  const isMisspelt = content.some(([name]) =>
    known.some((field) => isClose(name, field) || isShortFor(name, field)),
  )
  // Without a field that must be there, the content in "data" would be refused as well.
  const lacks = known.some(
    (field) =>
      field !== 'data' && !Object.hasOwn(value, field) && !fields[field]?.safeParse(undefined).success,
  )
  if (content.length === 0 || content.length > LIMITS.wrapperHintKeys || isMisspelt || lacks) return undefined
  const [[name, inner] = [], ...others] = content
  const isNamed = others.length === 0 && meantField(name ?? '', ['data']) !== undefined && isObject(inner)
  const data = isNamed ? inner : Object.fromEntries(content)
  const whole = { ...Object.fromEntries(entries.filter(isField)), data }
  const hint = JSON.stringify(whole)
  return {
    path,
    code: 'required',
    message: 'The content goes in "data". Send the body in hint.',
    expected: 'object',
    ...(hint.length <= LIMITS.wrapperHintChars
      ? { hint }
      : { message: 'The content goes in "data": {"data": {…}}.' }),
  }
}
