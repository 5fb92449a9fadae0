import { type Detail, DomainError, restated, withPaths } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'

/** The work, with the faults of the guard at `/statements`. */
export function inText<T>(work: () => Promise<T>): Promise<T> {
  return moved(work, '/statements', '')
}

/** The work, with its faults at a statement. */
export function inStatement<T>(index: number, work: () => Promise<T>): Promise<T> {
  return moved(work, placeOf(index), `Statement ${index}: `)
}

const placeOf = (index: number): string => pointer('statements', String(index))

/** The path of a row of a statement: its number in an INSERT, else its id. */
export const rowPath = (statement: number, id: string | null, row?: number): string =>
  placeOf(statement) + (row !== undefined ? pointer('rows', row) : id === null ? '' : pointer(id))

async function moved<T>(work: () => Promise<T>, at: string, prefix: string): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const placed = withPaths(thrown, (path) => path.replace(/^\/query/, at))
    throw placed instanceof DomainError && prefix !== '' ? prefixed(placed, prefix) : placed
  }
}

function prefixed(error: DomainError, prefix: string): DomainError {
  const { message } = error
  return message.startsWith(prefix) ? error : restated(error, { message: prefix + message })
}

/** The row of an operation of a statement. `row` is its number in an INSERT: many have no id yet. */
export type RowName = { readonly id: string | null; readonly kind: string; readonly row?: number }

/**
 * Runs the operations of a statement. Their faults name the statement, the row, its id, and the property.
 */
export async function atRows<T>(
  statement: number,
  rowOf: (operation: number) => RowName,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw thrown instanceof DomainError ? renamed(thrown, statement, rowOf) : thrown
  }
}

/** The message of a fault of several rows, which the batch says of its operations. */
const ofRows = ({ message, count }: Detail): string =>
  count === undefined
    ? message
    : message.replace(/ Operations [\d, and to]+: the same\.$/, ` The same in ${count} rows.`)

const OPERATION = /^\/operations\/(\d+)(.*)$/s

function renamed(error: DomainError, statement: number, rowOf: (operation: number) => RowName): DomainError {
  let first: string | undefined
  const details = error.details.map((detail): Detail => {
    const [, operation, below = ''] = OPERATION.exec(detail.path) ?? []
    if (operation === undefined) return detail
    const { id, kind, row } = rowOf(Number(operation))
    const name = id === null ? `a new ${kind}` : `${kind} "${id}"`
    first ??= name
    const message = ofRows(detail)
    // The path has the id, or else the number of the row.
    const { hint, ...rest } = { ...detail, message: row === undefined ? message : `${name}: ${message}` }
    // The fields that other hints name are not those of SQL.
    const hinted = hint !== undefined && detail.code !== 'cardinality' ? { hint } : {}
    return { ...rest, ...hinted, path: rowPath(statement, id, row) + below }
  })
  const [only] = details
  if (first === undefined || !only) return error
  // `inStatement` names the statement.
  const advice = only.message.replace(`${first}: `, '')
  const fault = error.message.replace(/^Operation \d+: | Nothing was written\.$/g, '')
  // What is wrong is in the message of the error alone, where that of its detail says what to do.
  const said =
    only.count !== undefined || details.length > 1 || fault.includes(advice) ? advice : `${fault} ${advice}`
  const message = `${first}: ${said}`
  return restated(error, { message: `${message} Nothing was written.`, details })
}
