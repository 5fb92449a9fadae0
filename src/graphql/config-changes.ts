/** Fields that the answers of config files, proposals and promotions share. */
import type { ConfigDiff, Conflict, Promotion } from '../engine/environments/index.ts'

type Occasional = Pick<Promotion, 'kept' | 'recordsRewritten' | 'secrets' | 'warnings'>

export const CHANGES = {
  type: 'JSON',
  description: '`[{ kind, id, op, diff }]`: op is "create", "update" or "delete", diff is RFC 6902.',
  resolve: ({ changes }: Pick<Promotion, 'changes'>) => changes,
} as const

export const SUMMARY = {
  type: 'JSON',
  description: '`{ create, update, delete }`: numbers of resources.',
  resolve: ({ summary }: Pick<ConfigDiff, 'summary'>) => summary,
} as const

export const CONFLICTS = {
  type: 'JSON',
  description: '`[{ kind, id, production, preview }]`: what production has changed too, with both diffs.',
  resolve: ({ conflicts }: { conflicts: readonly Conflict[] }) => conflicts,
} as const

export const KEPT = {
  type: 'JSON',
  nullable: true,
  description: '`[{ kind, id }]`: what the preview or the file does not have. It stays without `prune`.',
  resolve: ({ kept }: Occasional) => kept ?? null,
} as const

export const RECORDS_REWRITTEN = {
  type: 'JSON',
  nullable: true,
  description: '`{ deal: 12 }`: how many records the migrations rewrite, by record type.',
  resolve: ({ recordsRewritten }: Occasional) => recordsRewritten ?? null,
} as const

export const SECRETS = {
  type: 'JSON',
  nullable: true,
  description: '`[{ kind, id, secret }]`: secrets that were made for new resources. Returned once.',
  resolve: ({ secrets }: { secrets?: readonly object[] }) => secrets ?? null,
} as const

export const WARNINGS = {
  type: ['String'] as ['String'],
  nullable: true,
  description: 'What breaks for clients that were generated from the GraphQL schema of the base.',
  resolve: ({ warnings }: Occasional) => (warnings ? [...warnings] : null),
} as const
