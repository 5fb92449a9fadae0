/** Writes a shape as a TypeScript type. */
import { LIMITS } from '../../foundation/limits.ts'
import { isNever, type Kind, type ObjectShape, type Shape } from '../../schema-shape/shape.ts'

const INDENT = '  '

const SIMPLE: Readonly<Partial<Record<Kind, string>>> = {
  null: 'null',
  boolean: 'boolean',
  number: 'number',
  string: 'string',
}

/** How properties are written: `input` makes those with a default optional. */
export type Form = 'stored' | 'input'

/** The type of a shape, on several lines where it is an object. `indent` is that of the line it begins on. */
export function typeOf(shape: Shape, form: Form, indent = ''): string {
  if (shape.values !== undefined && shape.values.length <= LIMITS.generatedEnumValues)
    return shape.values.map((value) => JSON.stringify(value)).join(' | ') || 'never'
  if (isNever(shape)) return 'never'
  const isAnything = shape.kinds.size === 6 && shape.items === undefined && shape.object.properties.size === 0
  if (isAnything) return 'unknown'
  return [...shape.kinds].map((kind) => typeOfKind(kind, shape, form, indent)).join(' | ')
}

function typeOfKind(kind: Kind, { items, object }: Shape, form: Form, indent: string): string {
  if (kind === 'array') return items ? `Array<${typeOf(items, form, indent)}>` : 'unknown[]'
  if (kind === 'object') return objectType(object, form, indent)
  return SIMPLE[kind] ?? 'unknown'
}

/**
 * The members of an object in braces. Properties that the schema allows without naming them have no member where it
 * names any, so that a misspelt name is an error.
 */
export function objectType(
  { properties, required, additional }: ObjectShape,
  form: Form,
  indent = '',
): string {
  const inner = indent + INDENT
  const members = [...properties]
    .filter(([, shape]) => !isNever(shape))
    .map(([name, shape]) => {
      const isOptional = !required.has(name) || (form === 'input' && shape.default !== undefined)
      const type = typeOf(shape, form, inner)
      return `${comment(shape.description, inner)}${inner}${key(name)}${isOptional ? '?' : ''}: ${type}\n`
    })
  if (members.length === 0 && isNever(additional)) return 'Record<string, never>'
  if (members.length === 0)
    return `Record<string, ${additional ? typeOf(additional, form, indent) : 'unknown'}>`
  return `{\n${members.join('')}${indent}}`
}

/** A property name as a member is named. */
export const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

/** A doc comment of one line; nothing without a text. */
export function comment(text: string | undefined, indent = ''): string {
  const line = text?.replace(/\s+/g, ' ').replaceAll('*/', '*\\/').trim()
  return line ? `${indent}/** ${line} */\n` : ''
}
