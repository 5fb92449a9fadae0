/** SQL that writes: statements of a user, each carried out by the batch in one transaction. */

import { DomainError } from '../../../foundation/errors.ts'
import { requireType } from '../../configuration/record-types/index.ts'
import type { Scope } from '../../core/scope.ts'
import { runPlanned } from '../../core/write/run-planned.ts'
import type { WriteScope } from '../../core/write/write.ts'
import type { Types } from '../../records/batch/prepare.ts'
import { withinBudget } from '../../records/batch/run-batch.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'
import { placeOf, runnerOf } from '../execution/runner.ts'
import { loadCatalog, principalRightsOf } from '../load-catalog.ts'
import { requireSql } from '../run-sql.ts'
import { inStatement } from './faults.ts'
import { openPendingRows } from './pending-rows.ts'
import { type CheckedText, prepareStatements } from './prepare-statements.ts'
import { type Done, runStatement } from './run-statement.ts'
import { openRows } from './statement-reader.ts'

export type ExecuteInput = { statements: unknown; params?: unknown }
export type StatementResult = Done & {
  readonly statement: number
  readonly operation: 'insert' | 'update' | 'delete' | 'select'
}
export type SqlExecution = { data: readonly StatementResult[]; requestId: string | null }

/**
 * Waits for a place among the SQL statements of the server. Call it before the transaction of the write.
 * @throws FORBIDDEN without a grant, under a row policy or with SQL disabled; RATE_LIMITED
 */
export function withSqlPlace<T>(
  scope: Scope,
  baseId: string,
  statements: unknown,
  work: (scope: Scope) => Promise<T>,
): Promise<T> {
  requireBaseAccess(scope.access, baseId)
  requireSql(scope)
  if (scope.policy) throw notHere()
  const { actor, requestId } = scope
  const principal = principalRightsOf(scope, baseId, statements)
  const request = { principal, tokenId: actor.tokenId ?? '', requestId }
  return runnerOf(scope).reserve(request, (sqlPlace) => work({ ...scope, sqlPlace }))
}

const notHere = () =>
  new DomainError('FORBIDDEN', 'SQL that writes is not available at an endpoint. Use its own tools.')

/**
 * Runs statements in one transaction. All are parsed, checked and translated before the first runs.
 * @throws VALIDATION_ERROR, FORBIDDEN, CONFLICT or NOT_FOUND with details under `/statements/<n>`
 */
export async function executeSql(
  scope: WriteScope,
  baseId: string,
  { statements, params }: ExecuteInput,
): Promise<SqlExecution> {
  const place = placeOf(scope)
  if (!place) throw new Error('SQL that writes needs a place.')
  const { reader, note } = place
  const catalog = await loadCatalog(scope, principalRightsOf(scope, baseId, statements))
  const { access } = scope
  const checked = await prepareStatements(statements ?? undefined, params ?? undefined, { catalog, access })
  const { fingerprint, relations } = checked
  note({ fingerprint, relations, rows: 0 })
  const types = await typesOf(scope, baseId, checked)
  const data = await withinBudget(scope, (budget) =>
    runPlanned(
      scope,
      async (within) => {
        const left = budget()
        const own = await openPendingRows(within, catalog)
        const read = openRows(reader, own, runnerOf(scope).limits.writeRows)
        const run = { scope: within, catalog, types: new Map(types), own, read, budget: left }
        const done: StatementResult[] = []
        for (const [statement, each] of checked.statements.entries()) {
          const result = await inStatement(statement, () => runStatement(run, each, statement))
          done.push({ statement, operation: each.statement.operation, ...result })
        }
        return done
      },
      'statements',
    ),
  )
  note({ fingerprint, relations, rows: data.reduce((sum, { count }) => sum + count, 0) })
  return { data, requestId: scope.requestId }
}

/** The types that the statements write, loaded before the transaction, which has no caches. */
async function typesOf(scope: WriteScope, baseId: string, { statements }: CheckedText): Promise<Types> {
  const types: Types = new Map()
  for (const { statement } of statements) {
    const recordType = 'target' in statement ? statement.target.recordType : null
    if (recordType === null || types.has(recordType)) continue
    types.set(recordType, await requireType(scope, baseId, recordType))
  }
  return types
}
