import { nearest } from '../../contract/suggest.ts'
import type { Detail } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { typeName } from './checks.ts'
import type { Fault } from './evaluation.ts'

const MOST_ALLOWED = 50
const LONGEST_SHOWN = 50

type Message = { message: string } & Partial<Omit<Detail, 'path' | 'code' | 'message'>>

/** Formats a fault as an error detail. */
export function detail(fault: Fault, at: string): Detail {
  const { message, ...rest } = (MESSAGES[fault.keyword] ?? unforeseen)(fault)
  return {
    path: at + fault.path,
    code: fault.keyword.replace(/[A-Z ]/g, (c) => `_${c.trim().toLowerCase()}`),
    message,
    ...rest,
  }
}

type Describe = (fault: Fault) => Message

const MESSAGES: Readonly<Record<string, Describe>> = {
  type: ({ schema, data }) => {
    const types = [schema].flat().map(String)
    const expected = types.length === 1 ? types[0] : types
    return { message: `This must be of type ${types.join(' or ')}.`, expected, received: typeName(data) }
  },
  required: missing,
  dependentRequired: missing,
  dependencies: missing,
  additionalProperties: unknownKey,
  unevaluatedProperties: unknownKey,
  propertyNames: () => ({ message: 'The schema does not allow a property of this name. Rename it.' }),
  enum: ({ schema, data }) => oneOfValues(schema as unknown[], data),
  const: ({ schema, data }) => oneOfValues([schema], data),
  format: ({ schema }) => {
    const example = EXAMPLES[String(schema)]
    const message = `This must match the format ${schema}${example ? `, such as ${example}` : ''}.`
    return { message, expected: schema }
  },
  pattern: ({ schema }) => ({ message: 'This must match the pattern in `expected`.', expected: schema }),
  minimum: bound('This must be at least'),
  maximum: bound('This must be at most'),
  exclusiveMinimum: bound('This must be greater than'),
  exclusiveMaximum: bound('This must be less than'),
  multipleOf: bound('This must be a multiple of'),
  minLength: bound('Characters needed here, at least:'),
  maxLength: bound('Characters allowed here, at most:'),
  minItems: bound('Items needed here, at least:'),
  maxItems: bound('Items allowed here, at most:'),
  minProperties: bound('Properties needed here, at least:'),
  maxProperties: bound('Properties allowed here, at most:'),
  uniqueItems: ({ params }) => ({
    message: `Items ${params?.['first']} and ${params?.['second']} are the same. Remove one.`,
  }),
  contains: ({ parent }) => {
    const { minContains = 1, maxContains } = parent
    const most = maxContains === undefined ? '' : ` and at most ${maxContains}`
    return { message: `At least ${minContains}${most} of the items must match the schema's \`contains\`.` }
  },
  unevaluatedItems: tooMany,
  items: tooMany,
  anyOf: () => ({ message: 'This matches none of the alternatives in the schema.' }),
  oneOf: ({ params }) => ({
    message: params
      ? `This matches forms ${[params['passing']].flat().join(' and ')} of the schema, but must match exactly one.`
      : 'This matches none of the alternatives in the schema.',
  }),
  not: () => ({ message: 'This matches a schema under "not". Send a value that does not.' }),
  'false schema': () => ({ message: 'The schema allows no value here. Leave it out.' }),
}

const EXAMPLES: Readonly<Record<string, string>> = {
  'date-time': '2025-03-01T09:30:00Z',
  date: '2025-03-01',
  time: '09:30:00Z',
  duration: 'P1DT2H',
  email: 'ada@example.com',
  uri: 'https://example.com/a',
  url: 'https://example.com/a',
  uuid: '01958f2e-7a3b-7c41-9d2e-5f60718293a4',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.com',
}

const unforeseen: Describe = () => ({ message: 'This does not match the schema.' })

function tooMany({ params }: Fault): Message {
  const limit = params?.['limit']
  return { message: `The schema allows ${limit} items here.`, expected: limit }
}

function bound(text: string): Describe {
  return ({ schema }) => ({ message: `${text} ${schema}.`.replace(/: (\d+)\.$/, ' $1.'), expected: schema })
}

function missing({ params, parent }: Fault): Message {
  const key = String(params?.['missingProperty'])
  const { properties } = parent
  const schema = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined
  const expected = isObject(schema) ? schema['type'] : undefined
  return { message: `${shown(key)} is required.`, ...(expected !== undefined && { expected }) }
}

function unknownKey({ params, parent }: Fault): Message {
  const key = String(params?.['name'])
  const names = Object.keys(parent['properties'] ?? {})
  const hint = nearest(key, names)
  const advice = hint ? `Did you mean ${shown(hint)}?` : 'Leave it out.'
  const message = `The schema has no property ${shown(key)}. ${advice}`
  return { message, allowed: names.slice(0, MOST_ALLOWED), ...(hint && { hint }) }
}

function oneOfValues(values: unknown[], data: unknown): Message {
  const allowed = values.slice(0, MOST_ALLOWED)
  const isShort = typeof data === 'string' && data.length <= LONGEST_SHOWN
  const hint = isShort
    ? nearest(
        data,
        values.filter((value) => typeof value === 'string'),
      )
    : undefined
  const wanted =
    values.length === 1 ? 'This must be the value in `allowed`.' : 'This must be one of `allowed`.'
  return {
    message: hint ? `${wanted} Did you mean ${shown(hint)}?` : wanted,
    allowed,
    ...(isShort && { received: data }),
    ...(hint && { hint }),
  }
}

function shown(name: string): string {
  return JSON.stringify(name.length <= LONGEST_SHOWN ? name : `${name.slice(0, LONGEST_SHOWN - 1)}…`)
}
