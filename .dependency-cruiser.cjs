/** The rooms of `src/`, from the lowest: a room imports those above it in this list, and itself. */
const ROOMS = [
  'foundation',
  'config',
  'json',
  'contract',
  'dialects',
  'postgres',
  'engine',
  'graphql/(?!endpoint/)',
  'http',
  'graphql/endpoint',
  'oauth',
  'mcp',
  'rest',
  '[^/]+\\.ts$',
  'cli/command',
  'cli/(mcp-relay|resources)',
  'cli/[^/]+\\.ts$',
]

/** The rooms of `src/mcp/`, from the lowest. */
const MCP_ROOMS = [
  'schema-projection',
  'protocol/[^/]+\\.ts$',
  'budget',
  'tool/',
  'tools/records',
  'tools/[^/]+\\.ts$',
  'endpoints',
  'resources',
  'prompts',
  'subscriptions',
  'tools/(claims|describe-type|search-fetch)',
  'protocol/(legacy|modern)',
  '[^/]+\\.ts$',
]

/** A rule for each room: nothing of the rooms that come after it. */
const order = (folder, rooms) =>
  rooms.slice(0, -1).map((room, at) => ({
    name: `order-of-rooms: ${folder}/${room}`,
    severity: 'error',
    comment: 'Rooms have an order, so that folders have no cycles. Move the shared part down.',
    from: { path: `^${folder}/${room}` },
    to: { path: `^${folder}/(${rooms.slice(at + 1).join('|')})`, pathNot: `^${folder}/${room}` },
  }))

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'A cycle hides which part is the lower one.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'engine-knows-nothing-above',
      severity: 'error',
      comment: 'engine/ is the domain; it imports Prisma, the leaves and itself.',
      from: { path: '^src/engine/' },
      to: {
        path: '^src/(graphql|rest|mcp|server|cli|postgres|config)|node_modules/(fastify|graphql|graphql-yoga|@pothos|@modelcontextprotocol)/',
      },
    },
    {
      name: 'surfaces-only-speak-graphql',
      severity: 'error',
      comment: 'REST and MCP reach the domain through an operation, never a function.',
      from: { path: '^src/(rest|mcp)/' },
      to: { path: '^src/engine/' },
    },
    {
      name: 'surfaces-see-only-the-door',
      severity: 'error',
      comment: 'REST and MCP take documents, execution and context from graphql/, never a noun.',
      from: { path: '^src/(rest|mcp)/' },
      to: { path: '^src/graphql/', pathNot: '^src/graphql/(document|execute|context)\\.ts$' },
    },
    {
      name: 'rest-is-a-stranger-to-mcp',
      severity: 'error',
      comment: 'Each surface stands alone.',
      from: { path: '^src/rest/' },
      to: { path: '^src/mcp/' },
    },
    {
      name: 'mcp-is-a-stranger-to-rest',
      severity: 'error',
      comment: 'Each surface stands alone.',
      from: { path: '^src/mcp/' },
      to: { path: '^src/rest/' },
    },
    {
      name: 'cli-speaks-http',
      severity: 'error',
      comment: 'The CLI is a client of the REST API; only serve and mcp start a server.',
      from: { path: '^src/cli/', pathNot: '^src/cli/(serve|mcp)\\.ts$' },
      to: { path: '^src/(engine|graphql|rest|mcp|server|main|postgres)' },
    },
    ...order('src', ROOMS),
    ...order('src/mcp', MCP_ROOMS),
    {
      name: 'postgres-stands-alone',
      severity: 'error',
      comment: 'The supervisor knows processes and files, not the product.',
      from: { path: '^src/postgres/' },
      to: { path: '^src/(engine|graphql|rest|mcp|server|cli)' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/engine/prisma/' },
  },
}
