/** GraphQL query that runs a read-only SQL statement. */
import { runSql, type SqlResult } from '../engine/sql/run-sql.ts'
import { builder } from './builder.ts'

const SqlColumn = builder.objectRef<SqlResult['meta']['columns'][number]>('SqlColumn').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    type: t.exposeString('type', {
      description: 'The PostgreSQL type: text, bigint, timestamptz, jsonb …',
    }),
  }),
})

const SqlMeta = builder.objectRef<SqlResult['meta']>('SqlMeta').implement({
  fields: (t) => ({
    rows: t.exposeInt('rows'),
    hasMore: t.exposeBoolean('hasMore', { description: 'True if the result has more rows.' }),
    hint: t.exposeString('hint', {
      nullable: true,
      description: 'Present if a property is compared with a value that its schema excludes.',
    }),
    columns: t.field({ type: [SqlColumn], resolve: (meta) => [...meta.columns] }),
  }),
})

const SqlRef = builder.objectRef<SqlResult>('SqlResult').implement({
  description: 'The result of a statement.',
  fields: (t) => ({
    data: t.expose('data', { type: 'JSON', description: 'The rows: a list of objects, by column.' }),
    meta: t.expose('meta', { type: SqlMeta }),
  }),
})

builder.queryFields((t) => ({
  sql: t.field({
    type: SqlRef,
    description:
      'One read-only PostgreSQL statement. Relations are the record types by their ids, and records, record_types, changes, relationships, relationship_types.',
    args: {
      base: t.arg.string({ required: true }),
      query: t.arg.string({ required: true }),
      params: t.arg({ type: 'JSON', description: 'A list for $1 …, or an object for :name ….' }),
      limit: t.arg.int({ description: 'Maximum number of rows, 1 to 1000. Defaults to 1000.' }),
    },
    resolve: (_root, { base, ...input }, { scope }) => runSql(scope, base, input),
  }),
}))
