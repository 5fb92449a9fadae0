import { nearest } from '../../../contract/suggest.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { own } from '../../../foundation/own.ts'
import { typeName } from './checks.ts'
import type { Fault } from './evaluation.ts'
import { renamedTo } from './property-names.ts'

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
  type: (fault) => {
    const types = [fault.schema].flat().map(String)
    const expected = types.length === 1 ? types[0] : types
    const message = `${subject(fault)} must be of type ${types.join(' or ')}.`
    return { message, expected, received: typeName(fault.data) }
  },
  required: missing,
  dependentRequired: missing,
  dependencies: missing,
  additionalProperties: unknownKey,
  unevaluatedProperties: unknownKey,
  propertyNames: (fault) => ({
    message: `The schema does not allow a property of the name ${subject(fault)}. Rename it.`,
  }),
  enum: (fault) => oneOfValues(fault, fault.schema as unknown[]),
  const: (fault) => oneOfValues(fault, [fault.schema]),
  format: (fault) => {
    const example = EXAMPLES[String(fault.schema)]
    const such = example ? `, such as ${example}` : ''
    return {
      message: `${subject(fault)} must match the format ${fault.schema}${such}.`,
      expected: fault.schema,
      ...received(fault),
    }
  },
  pattern: (fault) => ({
    message: `${subject(fault)} must match the pattern in \`expected\`.`,
    expected: fault.schema,
    ...received(fault),
  }),
  minimum: bound('must be at least'),
  maximum: bound('must be at most'),
  exclusiveMinimum: bound('must be greater than'),
  exclusiveMaximum: bound('must be less than'),
  multipleOf: bound('must be a multiple of'),
  minLength: bound('must have at least', 'character'),
  maxLength: bound('must have at most', 'character'),
  minItems: bound('must have at least', 'item'),
  maxItems: bound('must have at most', 'item'),
  minProperties: bound('must have at least', 'property'),
  maxProperties: bound('must have at most', 'property'),
  uniqueItems: (fault) => {
    const { first, second } = fault.params ?? {}
    return { message: `Items ${first} and ${second} of ${subject(fault)} are the same. Remove one.` }
  },
  contains: (fault) => {
    const { minContains = 1, maxContains } = fault.parent
    const most = maxContains === undefined ? '' : ` and at most ${maxContains}`
    return {
      message: `At least ${minContains}${most} of the items of ${subject(fault)} must match the schema's \`contains\`.`,
    }
  },
  unevaluatedItems: tooMany,
  items: tooMany,
  anyOf: (fault) => ({ message: `${subject(fault)} matches none of the alternatives in the schema.` }),
  oneOf: (fault) => {
    const { passing } = fault.params ?? {}
    const forms = [passing].flat().join(' and ')
    return {
      message: passing
        ? `${subject(fault)} matches forms ${forms} of the schema, but must match exactly one.`
        : `${subject(fault)} matches none of the alternatives in the schema.`,
    }
  },
  not: (fault) => ({
    message: `${subject(fault)} matches a schema under "not". Send a value that does not.`,
  }),
  'false schema': (fault) => ({ message: `The schema allows no value for ${subject(fault)}. Leave it out.` }),
}

/** The name of the value at fault: its path below the validated value. */
function subject({ path }: Fault): string {
  if (path === '') return 'The value'
  const steps = path
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return shown(
    steps.map((step, i) => (i > 0 && /^\d+$/.test(step) ? `[${step}]` : i > 0 ? `.${step}` : step)).join(''),
  )
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

const unforeseen: Describe = (fault) => ({ message: `${subject(fault)} does not match the schema.` })

function tooMany(fault: Fault): Message {
  const limit = fault.params?.['limit']
  return { message: `The schema allows ${limit} items in ${subject(fault)}.`, expected: limit }
}

function bound(rule: string, unit?: string): Describe {
  return (fault) => {
    const { schema } = fault
    const many = unit === 'property' ? 'properties' : `${unit}s`
    const counted = unit === undefined ? '' : ` ${schema === 1 ? unit : many}`
    return { message: `${subject(fault)} ${rule} ${schema}${counted}.`, expected: schema, ...received(fault) }
  }
}

/** The value that came, if it is a number or a short text. */
function received({ data }: Fault): Pick<Message, 'received'> {
  const isShown = typeof data === 'string' ? data.length <= LIMITS.valueShownChars : typeof data === 'number'
  return isShown ? { received: data } : {}
}

function missing({ params, parent }: Fault): Message {
  const key = String(params?.['missingProperty'])
  const { properties } = parent
  const schema = isObject(properties) ? own(properties, key) : undefined
  const expected = isObject(schema) ? schema['type'] : undefined
  return { message: `${shown(key)} is required.`, ...(expected !== undefined && { expected }) }
}

function unknownKey({ params, parent }: Fault): Message {
  const key = String(params?.['name'])
  const properties = isObject(parent['properties']) ? parent['properties'] : {}
  const names = Object.keys(properties)
  const renamed = renamedTo(properties, key)
  const hint = renamed ?? nearest(key, names)
  const advice = renamed
    ? `It is called ${shown(renamed)} now.`
    : hint
      ? `Did you mean ${shown(hint)}?`
      : 'Leave it out.'
  const message = `The schema has no property ${shown(key)}. ${advice}`
  return { message, allowed: names.slice(0, LIMITS.allowedValuesShown), ...(hint && { hint }) }
}

function oneOfValues(fault: Fault, values: readonly unknown[]): Message {
  const { data } = fault
  const allowed = values.slice(0, LIMITS.allowedValuesShown)
  const isShort = typeof data === 'string' && data.length <= LIMITS.valueShownChars
  const texts = values.filter((value) => typeof value === 'string')
  const hint = isShort ? nearest(data, texts) : undefined
  const wanted = `${subject(fault)} must be ${named(values)}.`
  return {
    message: hint ? `${wanted} Did you mean ${shown(hint)}?` : wanted,
    allowed,
    ...(isShort && { received: data }),
    ...(hint && { hint }),
  }
}

/** The values in the message if they are few and short, since logs and models may show no more than that. */
function named(values: readonly unknown[]): string {
  const one = values.length === 1
  const text =
    values.length <= LIMITS.propertiesNamed ? values.map((value) => JSON.stringify(value)).join(', ') : ''
  if (text === '' || text.length > LIMITS.propertiesNamedChars)
    return one ? 'the value in `allowed`' : 'one of `allowed`'
  return one ? text : `one of ${text}`
}

function shown(name: string): string {
  return JSON.stringify(
    name.length <= LIMITS.valueShownChars ? name : `${name.slice(0, LIMITS.valueShownChars - 1)}…`,
  )
}
