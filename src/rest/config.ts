/** REST routes of config files. */
import { z } from 'zod'
import { CONFIG_KINDS, listName } from '../contract/config-shapes.ts'
import { configYaml } from '../contract/config-yaml.ts'
import { writtenBody } from '../contract/response-bodies.ts'
import { graphql } from '../graphql/document.ts'
import { flag } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { baseId, onBase } from './route/shapes.ts'

const params = z.strictObject({ base_id: baseId() })
const lists = Object.fromEntries(
  CONFIG_KINDS.map((kind) => [listName(kind), z.array(z.record(z.string(), z.unknown()))]),
)
const Config = z
  .object({
    plinth: z.literal(1),
    base: z.string(),
    ...lists,
    hash: z.string().meta({ description: 'Of all lists. It is the ETag too.' }),
  })
  .meta({ id: 'Config' })
/** The engine checks the resources, after the rights that depend on the base. */
const file = z.record(z.string(), z.unknown()).meta({
  description: 'A config file, as GET returns it. `/config.schema.json` has its JSON Schema.',
})
export const BREAKS_CLIENTS =
  'What breaks for clients that were generated from the GraphQL schema of the base.'
export const ChangeOfConfig = z
  .object({
    kind: z
      .enum([...CONFIG_KINDS, 'record', 'relationship'])
      .meta({ description: '`record` and `relationship` are of change-sets.' }),
    id: z.string().meta({ description: 'Of a record `<record_type>/<id>`.' }),
    op: z.enum(['create', 'update', 'delete']),
    title: z.string().optional().meta({ description: 'Of a record: its title, or else its `external_id`.' }),
    diff: z.array(z.record(z.string(), z.unknown())).meta({ description: 'RFC 6902.' }),
    rolled_back: z.literal(true).optional().meta({ description: 'Of a promotion: taken back since.' }),
  })
  .meta({ id: 'ConfigurationChange' })
export const SummaryOfChanges = z.object({ create: z.int(), update: z.int(), delete: z.int() })
export const NewSecrets = z
  .array(
    z.object({
      kind: z.enum(CONFIG_KINDS),
      id: z.string(),
      secret: z.string().nullable().meta({ description: 'Null in a dry run.' }),
    }),
  )
  .optional()
  .meta({ description: 'Secrets that were made for new resources. Only in the answer of the act.' })
export const Kept = z
  .array(z.object({ kind: z.enum(CONFIG_KINDS), id: z.string() }))
  .optional()
  .meta({ description: 'What would be deleted with `prune`, and is kept without it.' })
const ConfigDiff = z
  .object({
    changes: z.array(ChangeOfConfig),
    summary: SummaryOfChanges,
    hash: z.string().meta({ description: 'The hash of the configuration of the base.' }),
    kept: Kept,
    secrets: NewSecrets,
    meta: z
      .object({ warnings: z.array(z.string()) })
      .optional()
      .meta({
        description: BREAKS_CLIENTS,
      }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'ConfigDiff' })
const prune = z.strictObject({
  prune: flag('Also resources that a list of the file does not have: they are deleted, with their data.'),
})

export const config = tagged('Config as code', [
  route('GET /:base_id/config', {
    summary: 'Get the configuration of a base as one file',
    need: onBase('read'),
    params,
    query: z.strictObject({
      format: z.enum(['json', 'yaml']).optional().meta({ description: 'Defaults to `json`.' }),
    }),
    versioned: 'hash',
    operation: graphql(
      'query GetConfig($base: String!) { config(base: $base) schema: configSchema(base: $base) }',
    ),
    reply: ({ config, schema }, { query }) => {
      const body = config as { hash: string }
      return {
        body,
        isLarge: true,
        etag: `"${body.hash}"`,
        ...(query.format === 'yaml' && {
          text: { type: 'application/yaml; charset=utf-8', make: () => configYaml(body, schema) },
        }),
      }
    },
    answers: Config,
  }),
  route('POST /:base_id/config/diff', {
    summary: 'Compare a config file with a base: what applying it would change',
    need: onBase('read'),
    params,
    query: prune,
    body: file,
    size: 'bulk',
    operation: graphql(
      `query DiffConfig($base: String!, $config: JSON!, $prune: Boolean) {
        diff: configDiff(base: $base, config: $config, prune: $prune) { changes summary hash kept warnings }
      }`,
    ),
    variables: ({ params, query, body }) => ({ base: params.base_id, config: body, prune: query.prune }),
    reply: ({ diff }) => ({ body: writtenBody(diff), isLarge: true }),
    answers: ConfigDiff,
  }),
  route('PUT /:base_id/config', {
    summary: 'Apply a config file to a preview, in one transaction',
    need: onBase('manage'),
    params,
    query: prune,
    body: file,
    size: 'bulk',
    versioned: 'hash',
    operation: graphql(
      `mutation PutConfig($base: String!, $config: JSON!, $prune: Boolean, $expectedHashes: [String!]) {
        putConfig(base: $base, config: $config, prune: $prune, expectedHashes: $expectedHashes) {
          changes summary hash kept secrets warnings dry_run: dryRun
        }
      }`,
    ),
    variables: ({ params, query, body, hashes }) => ({
      base: params.base_id,
      config: body,
      prune: query.prune,
      expectedHashes: hashes,
    }),
    reply: ({ putConfig }) => ({ body: writtenBody(putConfig), isLarge: true, etag: `"${putConfig.hash}"` }),
    answers: ConfigDiff,
  }),
])
