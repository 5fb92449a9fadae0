/** GraphQL scalars: JSON and DateTime. */
import { GraphQLError, Kind, type ValueNode } from 'graphql'
import { isMoment, MOMENT } from '../contract/time-input.ts'
import { checkJson, parseJson, wasParsed } from '../json/parse.ts'
import { builder } from './builder.ts'

/**
 * Converts a JSON literal of a query. Its numbers must survive a round trip, like those of a body. A variable without a
 * value is left out of an object, and null in a list, as in the inputs of GraphQL.
 */
function literal(node: ValueNode, variables: Record<string, unknown> | null | undefined): unknown {
  switch (node.kind) {
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value
    case Kind.INT:
    case Kind.FLOAT:
      return parseJson(node.value)
    case Kind.NULL:
      return null
    case Kind.LIST:
      return node.values.map((value) => literal(value, variables) ?? null)
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields
          .map((field) => [field.name.value, literal(field.value, variables)] as const)
          .filter(([, value]) => value !== undefined),
      )
    case Kind.VARIABLE:
      // The check of a document knows no values yet.
      if (!variables) return null
      return Object.hasOwn(variables, node.name.value) ? variables[node.name.value] : undefined
    default:
      throw new GraphQLError('An enum value is not JSON. Send a string.')
  }
}

builder.scalarType('JSON', {
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  description: 'Any JSON value. Numbers that a double cannot represent exactly are refused.',
  serialize: (value) => value,
  // JSON from a body passed the pre-pass already, under the rule of its use.
  parseValue: (value) => {
    if (!wasParsed(value)) checkJson(value, '', 'compared')
    return value
  },
  parseLiteral: (node, variables) => {
    const value = literal(node, variables)
    checkJson(value)
    return value
  },
})

builder.scalarType('DateTime', {
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  description:
    'A time as RFC 3339 in UTC with milliseconds: 2026-01-31T09:30:00.000Z. As `since`, `until` or `asOf` also an age, such as "2h".',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value !== 'string' || !isMoment(value)) throw new GraphQLError(`A DateTime must be ${MOMENT}.`)
    return value
  },
})
