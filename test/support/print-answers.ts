/** The types of what the REST API answers, printed from its description. The pages import them. */
type Schema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
}

const HEAD = `// Printed from openapi.json: npm run print
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type Data = { [name: string]: Json }
/** A step of a JSON Patch, with the value before it. */
export type Step = { op: 'add' | 'replace' | 'remove'; path: string; value?: Json; before?: Json }
`
/** Lists of objects of any shape that are such steps. */
const STEPS = new Set(['diff', 'production', 'preview'])

type Answers = { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }
type Document = {
  components: { schemas: Record<string, Schema> }
  paths: Record<string, { get?: Answers }>
}

export function printedAnswers(document: object): string {
  const { components, paths } = document as Document
  const named = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema, '')}\n`,
  )
  return [
    HEAD,
    ...named,
    `/** What lists are of, where it has no name. */\nexport type Lists = ${listsOf(paths)}\n`,
  ].join('\n')
}

const BASE = '/v1/{base_id}/'

function listsOf(paths: Document['paths']): string {
  const lists = Object.entries(paths).flatMap(([path, { get }]) => {
    const answer = get?.responses['200']?.content?.['application/json']?.schema
    const items = answer?.properties?.['data']?.items
    return items && !items.$ref && path.startsWith(BASE) ? [[path.slice(BASE.length), items] as const] : []
  })
  return objectOf({ properties: Object.fromEntries(lists), required: lists.map(([name]) => name) }, '')
}

function typeOf(schema: Schema, indent: string, name = ''): string {
  const { $ref, type, items, anyOf } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1) as string
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf) return anyOf.map((each) => typeOf(each, indent, name)).join(' | ')
  if (Array.isArray(type))
    return type.map((each) => typeOf({ ...schema, type: each }, indent, name)).join(' | ')
  if (type === 'integer') return 'number'
  if (type === 'array') {
    const item = typeOf(items ?? {}, indent)
    return STEPS.has(name) && item === 'Data' ? 'Step[]' : / \| /.test(item) ? `(${item})[]` : `${item}[]`
  }
  return type === 'object' ? objectOf(schema, indent) : (type ?? 'Json')
}

function objectOf(schema: Schema, indent: string): string {
  const { properties, required = [], additionalProperties: rest } = schema
  if (!properties)
    return typeof rest === 'object' && Object.keys(rest).length > 0
      ? `{ [name: string]: ${typeOf(rest, indent)} }`
      : 'Data'
  const lines = Object.entries(properties).map(([name, each]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `${indent}  ${key}${required.includes(name) ? '' : '?'}: ${typeOf(each, `${indent}  `, name)}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}
