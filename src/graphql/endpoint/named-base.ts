import { type DocumentNode, Kind, type OperationDefinitionNode, type ValueNode } from 'graphql'
import { isObject } from '../../foundation/is-object.ts'
import { documents } from './documents.ts'
import type { Sent } from './sent-request.ts'

/** The base that the first root field with a base names, for an address of all bases. */
export function namedBase({ query, variables, operationName }: Sent): string | undefined {
  const document = typeof query === 'string' ? documents.get(query) : undefined
  const sentValue = (value: ValueNode): unknown => {
    if (value.kind === Kind.STRING) return value.value
    return value.kind === Kind.VARIABLE && isObject(variables) ? variables[value.name.value] : undefined
  }
  const [base] = (document ? operationOf(document, operationName) : [])
    .flatMap((operation) => operation.selectionSet.selections)
    .flatMap((field) => (field.kind === Kind.FIELD ? (field.arguments ?? []) : []))
    .flatMap(({ name, value }) => (name.value === 'base' ? [sentValue(value)] : []))
  return typeof base === 'string' ? base : undefined
}

const operationOf = ({ definitions }: DocumentNode, name: unknown): OperationDefinitionNode[] =>
  definitions
    .filter((part) => part.kind === Kind.OPERATION_DEFINITION)
    .filter((operation) => !name || operation.name?.value === name)
