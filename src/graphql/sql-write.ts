/** GraphQL mutation for SQL that writes. */

import type { Deletion, DeletionPlan } from '../engine/core/write/deletion-plan.ts'
import {
  executeSql,
  type SqlExecution,
  type StatementResult,
  withSqlPlace,
} from '../engine/sql/write/execute-sql.ts'
import { builder } from './builder.ts'
import { transactionFields } from './deletion-plan.ts'
import { mutation } from './mutation.ts'

const Kind = builder.enumType('SqlOperation', {
  description: 'What a SQL statement does.',
  values: ['insert', 'update', 'delete', 'select'] as const,
})

const Statement = builder.objectRef<StatementResult>('SqlStatement').implement({
  description: 'The result of one SQL statement.',
  fields: (t) => ({
    statement: t.exposeInt('statement', { description: 'Index in the text, from 0.' }),
    operation: t.expose('operation', { type: Kind }),
    count: t.exposeInt('count', { description: 'The number of rows that it wrote or read.' }),
    rows: t.expose('rows', {
      type: 'JSON',
      description: 'The rows of SELECT or RETURNING: a list of objects, by column.',
    }),
  }),
})

type Answer = SqlExecution & { deletion?: Deletion; plan?: DeletionPlan }

const Execution = builder.objectRef<Answer>('SqlExecution').implement({
  fields: (t) => ({
    data: t.field({ type: [Statement], resolve: ({ data }) => [...data] }),
    count: t.int({
      description: 'The number of rows of all statements.',
      resolve: ({ data }) => data.reduce((sum, { count }) => sum + count, 0),
    }),
    ...transactionFields(t),
  }),
})

mutation('executeSql', {
  description:
    'Runs 1 to 20 statements of INSERT, UPDATE, DELETE and SELECT in one transaction. Relations are the record types by their ids, and relationships.',
  type: Execution,
  planned: (plan) => ({ data: [], requestId: null, plan }),
  plannedArgs: ['statements', 'params'],
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    statements: t.string({
      description: 'The statements, separated by semicolons. Left out with `planToken`.',
    }),
    params: t.field({ type: 'JSON', description: 'A list for $1 …, or an object for :name ….' }),
  })),
  reserve: (scope, { base, statements }, work) => withSqlPlace(scope, base, statements, work),
  resolve: (scope, { base, statements, params }) => executeSql(scope, base, { statements, params }),
})
