/** The folders of `src/`, from the lowest: a folder imports those above it in this list, and itself. */
const FOLDERS = [
  'foundation',
  'config',
  'json',
  'contract',
  'dialects',
  'schema-shape',
  'postgres',
  'engine',
  'backup',
  'graphql/(?!endpoint/)',
  'http',
  'graphql/endpoint',
  'oauth',
  'mcp',
  'rest',
  's3',
  '[^/]+\\.ts$',
  'cli/command',
  'cli/(mcp-relay|resources|generated-types|record-files)',
  'cli/replay/',
  'cli/[^/]+\\.ts$',
]

/** The folders of `src/mcp/`, from the lowest. */
const MCP_FOLDERS = [
  'protocol/[^/]+\\.ts$',
  'budget',
  'outline',
  'views',
  'tool/',
  'tools/records',
  'tools/files',
  'tools/[^/]+\\.ts$',
  'tools/claims',
  'endpoints',
  'resources',
  'prompts',
  'subscriptions',
  'tools/(describe-type|search-fetch)',
  'protocol/(legacy|modern)',
  '[^/]+\\.ts$',
]

/** The wings of `src/engine/`, from the lowest. */
const ENGINE_WINGS = [
  'storage/',
  'schema/',
  'log/',
  'data/',
  'core/',
  'configuration/',
  'records/',
  'files/',
  'history/',
  'environments/',
  'automation/',
  'sql/',
  'jobs/',
  'analytics/',
  '[^/]+\\.ts$',
]

/** The folders of `src/rest/`, from the lowest. */
const REST_FOLDERS = [
  'route/',
  'records/',
  'files/',
  '(?!docs|api-reference)[^/]+\\.ts$',
  'openapi/',
  '(docs|api-reference)\\.ts$',
]

/** The folders of `src/s3/`, from the lowest. */
const S3_FOLDERS = ['protocol/', 'operations/', '[^/]+\\.ts$']

/** A rule for each folder, which imports none of those after it, and one for files in no listed folder. */
const order = (parent, folders) => [
  ...folders.slice(0, -1).map((folder, at) => ({
    name: `order-of-folders: ${parent}/${folder}`,
    severity: 'error',
    comment: 'Folders have an order, so that they have no cycles. Move the shared part down.',
    from: { path: `^${parent}/${folder}` },
    to: { path: `^${parent}/(${folders.slice(at + 1).join('|')})`, pathNot: `^${parent}/${folder}` },
  })),
  {
    name: `folder-without-order: ${parent}`,
    severity: 'error',
    comment:
      'Each folder has a place in the order. Move the file into a listed folder, or list the new folder.',
    from: {},
    to: { path: `^${parent}/`, pathNot: `^${parent}/(${folders.join('|')})` },
  },
]

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
      comment: 'REST, MCP and S3 reach the domain through an operation, never a function.',
      from: { path: '^src/(rest|mcp|s3)/' },
      to: { path: '^src/engine/' },
    },
    {
      name: 'surfaces-see-only-the-door',
      severity: 'error',
      comment:
        'REST, MCP and S3 take documents, execution, context and contents from graphql/, never a noun.',
      from: { path: '^src/(rest|mcp|s3)/' },
      to: {
        path: '^src/graphql/',
        pathNot: '^src/graphql/(document|kind-documents|execute|context|content|delivery|change-sets)\\.ts$',
      },
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
      comment: 'The CLI is a client of the REST API; only serve, mcp and backup work beside it.',
      from: { path: '^src/cli/', pathNot: '^src/cli/(serve|mcp|backup)\\.ts$' },
      to: { path: '^src/(engine|backup|graphql|rest|mcp|server|main|postgres)' },
    },
    ...order('src', FOLDERS),
    ...order('src/engine', ENGINE_WINGS),
    ...order('src/mcp', MCP_FOLDERS),
    ...order('src/rest', REST_FOLDERS),
    ...order('src/s3', S3_FOLDERS),
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
