/** GraphQL queries and mutation of config files. */
import * as environments from '../engine/environments/index.ts'
import { builder } from './builder.ts'
import { CHANGES, KEPT, SECRETS, SUMMARY, WARNINGS } from './config-changes.ts'
import { mutation } from './mutation.ts'

const ConfigDiffType = builder.objectRef<environments.ConfigDiff>('ConfigDiff').implement({
  description: 'What a config file changes.',
  fields: (t) => ({
    changes: t.field(CHANGES),
    summary: t.field(SUMMARY),
    hash: t.exposeString('hash', { description: 'The hash of the configuration of the base.' }),
    kept: t.field(KEPT),
    secrets: t.field(SECRETS),
    warnings: t.field(WARNINGS),
  }),
})

const fileArgs = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    config: t.field({ type: 'JSON', required: true, description: 'A config file, as `config` returns it.' }),
    prune: t.boolean({ description: 'Also delete resources that a list of the file does not have.' }),
  }))

builder.queryFields((t) => ({
  config: t.field({
    type: 'JSON',
    description: 'The configuration of a base as one file, in the names of REST.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => environments.getConfig(scope, base),
  }),
  configSchema: t.string({
    description: 'The address of the JSON Schema of config files, for editors.',
    args: { base: t.arg.string({ required: true }) },
    resolve: (_root, { base }, { scope }) => environments.configSchemaUrl(scope, base),
  }),
  configDiff: t.field({
    type: ConfigDiffType,
    description: 'What applying a config file to the base would change.',
    args: fileArgs(),
    resolve: (_root, { base, config, prune }, { scope }) =>
      environments.diffConfig(scope, base, config, prune ?? false),
  }),
}))

mutation('putConfig', {
  description: 'Applies a config file to a preview, in one transaction.',
  type: ConfigDiffType,
  carriesSecrets: true,
  args: builder.args((t) => ({
    ...fileArgs(),
    expectedHashes: t.stringList({
      description: 'Precondition: write only if the configuration has one of these hashes.',
    }),
  })),
  resolve: (scope, { base, config, prune, expectedHashes }) =>
    environments.putConfig(scope, base, config, { prune: prune ?? false, hashes: expectedHashes ?? null }),
})
