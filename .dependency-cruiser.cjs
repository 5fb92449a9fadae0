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
    {
      name: 'leaves-import-nothing-of-ours',
      severity: 'error',
      comment: 'errors, limits, json and nearest lie below every layer.',
      from: {
        path: '^src/(errors|limits|turns|nearest|ids|check|shapes|digest|bodies|names|operators|record-columns|aggregate-shapes|batch-shapes|endpoint-shapes)\\.ts$|^src/(json|dialects)/',
      },
      to: {
        path: '^src/',
        pathNot:
          '^src/(errors|limits|turns|nearest|ids|check|shapes|digest|bodies|names|operators|record-columns|aggregate-shapes|batch-shapes|endpoint-shapes)\\.ts$|^src/(json|dialects)/',
      },
    },
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
