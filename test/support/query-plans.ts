/** The statements that a server runs, and their query plans. */
import pg from 'pg'
import type { TestDatabase } from './database.ts'

export type RanStatement = { name: string; text: string; values: readonly unknown[] }

/** Collects the distinct statements that servers of this process run during `work`. */
export async function statementsOf(work: () => Promise<unknown>): Promise<RanStatement[]> {
  const ran = new Map<string, RanStatement>()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [first, second] = args as [Partial<RanStatement> | string, unknown]
    const { name, text, values } =
      typeof first === 'string' ? { name: '', text: first, values: second } : first
    if (text !== undefined)
      ran.set(text, { name: name ?? '', text, values: Array.isArray(values) ? values : [] })
    return Reflect.apply(query, this, args)
  } as typeof query
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return [...ran.values()]
}

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}
export type QueryPlan = {
  /** Tables that are read from end to end. */
  scans: string[]
  /** The highest number of rows that a node read, if the statement only reads. */
  widest: number
  text: string
}

/** Explains a statement; runs it too if it only reads. Leaves nothing behind. */
export async function explain({ url }: TestDatabase, { text, values }: RanStatement): Promise<QueryPlan> {
  // As the pool of the server.
  const client = new pg.Client({ connectionString: url, options: '-c enable_memoize=off' })
  await client.connect()
  try {
    await client.query('BEGIN')
    const isRead = !/\b(INSERT|UPDATE|DELETE)\b/.test(text)
    const how = isRead ? 'ANALYZE, TIMING OFF, FORMAT JSON' : 'FORMAT JSON'
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(`EXPLAIN (${how}) ${text}`, [
      ...values,
    ])
    const plan = rows[0]?.['QUERY PLAN'][0].Plan as Node
    const nodes = [...flatten(plan)]
    return {
      scans: nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? []) : [])),
      widest: Math.max(...nodes.map(rowsOf)),
      text: JSON.stringify(plan, null, 1),
    }
  } finally {
    await client.end()
  }
}

function* flatten(node: Node): Generator<Node> {
  yield node
  for (const each of node.Plans ?? []) yield* flatten(each)
}

const rowsOf = (node: Node): number =>
  ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0)
