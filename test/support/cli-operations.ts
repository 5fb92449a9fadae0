/** What the command line knows of the API: the operations of the OpenAPI description, and what each takes. */
import type { Operation, Taken } from '../../src/cli/command/operations.ts'

type Schema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  description?: string
  required?: string[]
  items?: Schema
  properties?: Record<string, Schema>
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}
type Parameter = { in: string; name: string; description?: string; schema: Schema }
type Described = {
  operationId: string
  summary: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}
type Document = {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

/** Of these headers, commands have options. */
const HEADERS = ['if-match', 'if-none-match', 'idempotency-key', 'x-service-label', 'x-file-metadata']
/** The entity tag in a body: commands have `--if-match`. */
const NOT_TAKEN = ['expected_version', 'version', 'created_at', 'updated_at']

/** The text of `schema/cli.json`, with an operation a line. */
export function printedOperations(document: unknown): string {
  const { paths, components } = document as Document
  const named = (schema: Schema): Schema =>
    components.schemas[schema.$ref?.replace('#/components/schemas/', '') ?? ''] ?? schema

  function kindOf(written: Schema): Taken['kind'] {
    const schema = named(written)
    const parts = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== 'null').map(kindOf)
    if (parts[0]) return parts[0]
    const type = [schema.type ?? typeof schema.const].flat().find((each) => each !== 'null')
    if (type === 'array' && schema.items) return kindOf(schema.items) === 'text' ? 'list' : 'json'
    return type === 'string'
      ? 'text'
      : type === 'integer' || type === 'number'
        ? 'count'
        : type === 'boolean'
          ? 'flag'
          : 'json'
  }

  function fieldsOf(written: Schema): [name: string, Schema, isRequired: boolean][] {
    const { properties = {}, required = [], allOf = [], anyOf = [], oneOf = [] } = named(written)
    return [
      ...Object.entries(properties).map(
        ([name, schema]) => [name, schema, required.includes(name)] as [string, Schema, boolean],
      ),
      ...allOf.flatMap(fieldsOf),
      ...[...anyOf, ...oneOf]
        .flatMap(fieldsOf)
        .map(([name, schema]) => [name, schema, false] as [string, Schema, boolean]),
    ]
  }

  const says = (description = '') => {
    const plain = description
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll('`', '')
      .replace(/\.$/, '')
    return /^[A-Z][a-z ]/.test(plain) ? `${plain[0]?.toLowerCase()}${plain.slice(1)}` : plain
  }

  const operationOf = (method: string, path: string, described: Described): Operation => {
    const { parameters = [], requestBody } = described
    const takes = new Map<string, Taken>()
    for (const { in: place, name, description, schema } of parameters)
      if (place === 'query' || (place === 'header' && HEADERS.includes(name.toLowerCase())))
        takes.set(name, {
          name: place === 'header' ? name.toLowerCase() : name,
          in: place,
          kind: kindOf(schema),
          about: says(description),
        })
    if (method !== 'put') takes.delete('If-None-Match')
    const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => name)
    const body = requestBody?.content['application/json']?.schema ?? {}
    for (const [name, schema, required] of fieldsOf(body))
      if (!takes.has(name) && !inPath.includes(name) && !NOT_TAKEN.includes(name))
        takes.set(name, {
          name,
          in: 'body',
          kind: kindOf(schema),
          about: says(named(schema).description),
          ...(required && { required }),
        })
    const own = path.replace(/^\/v1/, '').replace(/\{(\w+)\}/g, ':$1')
    return {
      method: method.toUpperCase() as Operation['method'],
      path: own,
      summary: described.summary,
      takes: [...takes.values()],
    }
  }

  const lines = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, each]) => `  "${each.operationId}": ${JSON.stringify(operationOf(method, path, each))}`,
      ),
    )
  return `{\n${lines.join(',\n')}\n}\n`
}
