/** Faults of a batch. One that repeats in many operations is listed once, with the operations that have it. */
import { type Detail, DomainError, faultsIn, withoutCount } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Failure } from './operation.ts'

/** The details of a failed operation, relative to it. */
function ownDetails({ error }: Failure): readonly Detail[] {
  if (error.details.length > 0) return error.details
  return [{ path: '', code: error.code.toLowerCase(), message: error.message }]
}

/** A fault, the operations that have it, and the details of the first of them. */
type Repeated = { readonly details: Detail[]; readonly operations: number[] }
type Placed = { readonly operation: number; readonly detail: Detail }

/** Two faults with the same name are the same fault, with equal or different received values. */
const nameOf = ({ path, code, message, hint }: Detail): string => JSON.stringify([path, code, message, hint])

/**
 * Lists the faults of failures in order. Those of a few operations are listed one by one, others once, with
 * their operations in the message and in `count`. `total` counts all faults if some are cut.
 */
function listFaults(
  failures: readonly Failure[],
  placeOf: (index: number) => string,
): { details: Detail[]; total: number } {
  const faults = new Map<string, Repeated>()
  let total = 0
  let isCut = false
  for (const failure of failures) {
    const own = ownDetails(failure)
    const listed = withoutCount(own)
    total += faultsIn(own)
    isCut ||= listed.length < own.length
    for (const detail of listed) {
      const name = nameOf(detail)
      const known = faults.get(name)
      if (known) known.operations.push(failure.index)
      else faults.set(name, { details: [detail], operations: [failure.index] })
      if (known && known.details.length < LIMITS.shownRepeats) known.details.push(detail)
    }
  }
  const items = [...faults.values()].flatMap((fault) => itemsOf(fault, placeOf))
  const details = items.sort((a, b) => a.operation - b.operation).map(({ detail }) => detail)
  return { details, total: isCut || details.length > LIMITS.errorDetails ? total : details.length }
}

/** The items of a fault, each with its first operation. */
function itemsOf({ details, operations }: Repeated, placeOf: (index: number) => string): Placed[] {
  const items = details.map((detail, n): Placed => {
    const operation = operations[n] ?? 0
    return { operation, detail: { ...detail, path: placeOf(operation) + detail.path } }
  })
  const [first] = items
  if (!first || operations.length <= LIMITS.shownRepeats) return items
  const message = `${first.detail.message} Operations ${rangesOf(operations)}: the same.`
  return [{ ...first, detail: { ...first.detail, message, count: operations.length } }]
}

/** `0 to 15, 20 and 22`: at most `LIMITS.shownRanges` ranges of a rising list. */
export function rangesOf(indexes: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const index of indexes) {
    const last = ranges.at(-1)
    if (last && index - last[1] <= 1) last[1] = index
    else ranges.push([index, index])
  }
  const shown = ranges
    .slice(0, LIMITS.shownRanges)
    .map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`))
  const left = ranges.slice(LIMITS.shownRanges).reduce((sum, [from, to]) => sum + to - from + 1, 0)
  return left > 0 ? `${shown.join(', ')} and ${left} more` : shown.join(', ')
}

/** Counts how many details failures need, as they are found. */
const needs = new WeakMap<readonly Failure[], { read: number; names: Set<string> }>()

/** Whether the failures fill the list of details, so that others need no details. */
export function areEnough(failures: readonly Failure[]): boolean {
  if (failures.length === 0) return false
  if (failures.length >= LIMITS.explainedFailures) return true
  const need = needs.get(failures) ?? { read: 0, names: new Set() }
  needs.set(failures, need)
  for (; need.read < failures.length && need.names.size < LIMITS.errorDetails; need.read++)
    for (const detail of ownDetails(failures[need.read] as Failure)) need.names.add(nameOf(detail))
  return need.names.size >= LIMITS.errorDetails
}

/** JSON Pointer of an operation. */
export const placeOf = (index: number): string => `/operations/${index}`

/** Runs work and attributes its error to the operation. */
export async function ofOperation<T>(index: number, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw thrown instanceof DomainError ? combine([{ index, error: thrown }]) : thrown
  }
}

/** Combines failures: code and message of the first, details of all, repeated ones once. */
function combine(failures: readonly [Failure, ...Failure[]]): DomainError {
  const sorted = [...failures].sort((a, b) => a.index - b.index)
  const [{ index, error }] = sorted as [Failure]
  const count = new Set(sorted.map((failure) => failure.index)).size
  const others = count > 1 ? ` ${count} operations fail; nothing was written.` : ' Nothing was written.'
  const { details, total } = listFaults(sorted, placeOf)
  const message = error.message.replace(/ Nothing was written\.$/, '')
  return new DomainError(error.code, `Operation ${index}: ${message}${others}`, {
    details,
    total,
    cause: error.cause,
  })
}

/**
 * Throws the combined failures, if any.
 * @throws DomainError
 */
export function refuse(failures: readonly Failure[]): void {
  const [first, ...rest] = failures
  if (first) throw combine([first, ...rest])
}

/** Runs the work and collects its error in `failures`; undefined then. */
export function collect<T>(failures: Failure[], index: number, work: () => T): T | undefined {
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    failures.push({ index, error: thrown })
    return undefined
  }
}

/** Index of the first failed operation; all before it have succeeded so far. */
export const firstOf = (failures: readonly Failure[]): number =>
  failures.reduce((first, { index }) => Math.min(first, index), Number.POSITIVE_INFINITY)
