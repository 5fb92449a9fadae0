/** GraphQL query that runs a read-only SQL statement. */
import { runSql, type SqlChunk, type SqlResult, streamSql } from '../engine/sql/run-sql.ts'
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

const SqlRows = builder.objectRef<SqlChunk>('SqlRows').implement({
  description: 'Some rows of a whole result.',
  fields: (t) => ({
    rows: t.expose('rows', { type: 'JSON', description: 'A list of objects, by column.' }),
    columns: t.field({ type: [SqlColumn], resolve: ({ columns }) => [...columns] }),
  }),
})

const statementArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    query: t.string({ required: true }),
    params: t.field({ type: 'JSON', description: 'A list for $1 …, or an object for :name ….' }),
  }))

builder.subscriptionField('sqlRows', (t) =>
  t.field({
    type: SqlRows,
    description:
      'Streams all rows of one read-only PostgreSQL statement, of one moment, and then ends. It fails if the token is revoked, or if its client takes nothing for long.',
    args: statementArgs(),
    subscribe: (_root, { base, ...input }, { scope }) => streamSql(scope, base, input),
    resolve: (rows) => rows,
  }),
)

builder.queryFields((t) => ({
  sql: t.field({
    type: SqlRef,
    description:
      'One read-only PostgreSQL statement. Relations are the record types by their ids, and records, record_types, changes, relationships, relationship_types.',
    args: {
      ...statementArgs(),
      limit: t.arg.int({ description: 'Maximum number of rows, 1 to 1000. Defaults to 1000.' }),
    },
    resolve: (_root, { base, ...input }, { scope }) => runSql(scope, base, input),
  }),
}))
