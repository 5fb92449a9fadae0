import { invalid } from '../../foundation/errors.ts'
import { parseField } from '../filter/field.ts'

/** Reads `["data.name", "data.status"]` as the properties it names; null when `data` is among them. @throws VALIDATION_ERROR */
export function parseShown(fields: readonly string[], at: string): readonly string[] | null {
  const names = fields.map((field, n) => readName(field, `${at}/${n}`))
  return names.includes(null) ? null : [...new Set(names as string[])]
}

function readName(text: string, at: string): string | null {
  const field = parseField(text, at)
  const path = field.kind === 'data' ? field.path : [null]
  const [name] = path
  if (path.length === 0) return null
  if (path.length === 1 && typeof name === 'string') return name
  throw invalid({
    path: at,
    code: 'invalid_field',
    message: `fields names properties of data, each whole: "data.name". "${text.slice(0, 64)}" is none.`,
    received: text.slice(0, 64),
    ...(typeof name === 'string' && { hint: `data.${name}` }),
  })
}
