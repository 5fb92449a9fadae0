/** What an operation has to pass before it is executed: the limits of its size, and the rate limit. */
import { type ExecutionArgs, GraphQLError } from 'graphql'
import { DomainError } from '../../foundation/errors.ts'
import { overLimits } from './query-limits.ts'

type Operation = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>

/**
 * Rate-limits the root fields of a request: each counts as one.
 * @throws RATE_LIMITED
 */
export type ChargeFields = (fields: number) => void

export const faultsOf = ({ schema, document, variableValues }: Operation, maxCost: number): GraphQLError[] =>
  overLimits(schema, document, variableValues ?? {}, maxCost)

export function refusedCharge(fields: number, charge: ChargeFields): GraphQLError[] {
  try {
    charge(fields)
    return []
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    return [new GraphQLError(thrown.message, { originalError: thrown })]
  }
}

/** A property such as `constructor` that a variable does not have would be found on its prototype. */
export function keepOwn(variables: unknown): void {
  const open: unknown[] = [variables]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (value === null || typeof value !== 'object') continue
    // In place, so that values that were checked as they were parsed are known as such.
    if (!Array.isArray(value)) Object.setPrototypeOf(value, null)
    open.push(...Object.values(value).filter((each) => typeof each === 'object'))
  }
}
