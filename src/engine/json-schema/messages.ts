import type { ErrorObject } from 'ajv'
import type { Detail } from '../../errors.ts'
import { pointer } from '../../json/index.ts'
import { nearest } from '../../nearest.ts'
import { isObject, typeName } from './checks.ts'

const MOST_ALLOWED = 50
const LONGEST_SHOWN = 50

type Told = { message: string; key?: string } & Partial<Omit<Detail, 'path' | 'code' | 'message'>>

/** One error of the validator, told to whoever sent the value. */
export function detail(error: ErrorObject, at: string): Detail {
  const { key, message, ...rest } = (TELL[error.keyword] ?? unforeseen)(error)
  return {
    path: at + error.instancePath + (key === undefined ? '' : pointer(key)),
    code: error.keyword.replace(/[A-Z ]/g, (c) => `_${c.trim().toLowerCase()}`),
    message,
    ...rest,
  }
}

type Tell = (error: ErrorObject) => Told

const TELL: Readonly<Record<string, Tell>> = {
  type: ({ schema, data }) => {
    const types = [schema].flat().map(String)
    const expected = types.length === 1 ? types[0] : types
    return { message: `This must be of type ${types.join(' or ')}.`, expected, received: typeName(data) }
  },
  required: missing('missingProperty'),
  dependentRequired: missing('missingProperty'),
  dependencies: missing('missingProperty'),
  additionalProperties: unknownKey('additionalProperty'),
  unevaluatedProperties: unknownKey('unevaluatedProperty'),
  propertyNames: ({ params }) => {
    const key = String(params['propertyName'])
    return { key, message: 'The schema does not allow a property of this name. Rename it.' }
  },
  enum: ({ schema, data }) => oneOfValues(schema as unknown[], data),
  const: ({ schema, data }) => oneOfValues([schema], data),
  format: ({ schema }) => {
    const example = EXAMPLES[String(schema)]
    const message = `This must be in the format ${schema}${example ? `, such as ${example}` : ''}.`
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
  uniqueItems: ({ params }) => {
    const { first, second } = params
    return { message: `Items ${first} and ${second} are the same. Remove one.`, key: String(second) }
  },
  contains: ({ parentSchema = {} }) => {
    const { minContains = 1, maxContains } = parentSchema
    const most = maxContains === undefined ? '' : ` and at most ${maxContains}`
    return { message: `At least ${minContains}${most} of the items must match the schema's \`contains\`.` }
  },
  unevaluatedItems: tooMany,
  additionalItems: tooMany,
  items: tooMany,
  anyOf: () => ({ message: 'This matches none of the forms that the schema allows.' }),
  oneOf: ({ params }) => ({
    message: params['passingSchemas']
      ? `This matches forms ${params['passingSchemas'].join(' and ')} of the schema, but must match exactly one.`
      : 'This matches none of the forms that the schema allows.',
  }),
  not: () => ({ message: 'This matches what the schema rules out.' }),
  if: ({ params }) => ({ message: `This breaks the schema's \`${params['failingKeyword']}\`.` }),
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

const unforeseen: Tell = () => ({ message: 'This does not match the schema.' })

function tooMany({ params }: ErrorObject): Told {
  const { limit } = params
  return { message: `The schema allows ${limit} items here.`, expected: limit }
}

function bound(text: string): Tell {
  return ({ schema }) => ({ message: `${text} ${schema}.`.replace(/: (\d+)\.$/, ' $1.'), expected: schema })
}

function missing(param: string): Tell {
  return ({ params, parentSchema }) => {
    const key = String(params[param])
    const properties = parentSchema?.['properties']
    const schema = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined
    const expected = isObject(schema) ? schema['type'] : undefined
    return { key, message: `${shown(key)} is required.`, ...(expected !== undefined && { expected }) }
  }
}

function unknownKey(param: string): Tell {
  return ({ params, parentSchema }) => {
    const key = String(params[param])
    const names = Object.keys(parentSchema?.['properties'] ?? {})
    const hint = nearest(key, names)
    const advice = hint ? `Did you mean ${shown(hint)}?` : 'Leave it out.'
    const message = `The schema has no property ${shown(key)}. ${advice}`
    return { key, message, allowed: names.slice(0, MOST_ALLOWED), ...(hint && { hint }) }
  }
}

function oneOfValues(values: unknown[], data: unknown): Told {
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
