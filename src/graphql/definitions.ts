/** Configuration of any kind by the name of the kind, in the names of REST: for callers that treat all kinds alike. */
import { snakeFields } from '../contract/field-names.ts'
import { INBOUND_WEBHOOK } from '../engine/configuration/inbound-webhooks/index.ts'
import { kindNamed } from '../engine/configuration/kinds.ts'
import { define, get, list, remove, type View } from '../engine/configuration/lifecycle/index.ts'
import type { Page } from '../engine/core/page.ts'
import type { Scope } from '../engine/core/scope.ts'
import { expectation } from '../engine/core/write/preconditions.ts'
import { builder } from './builder.ts'
import { Deleted, notYetDeleted, Operation, versionArgs } from './common.ts'
import { ingestPath } from './delivery.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

type Shown = View & { kind: string }

const DefinitionType = builder.objectRef<Shown>('Definition').implement({
  description: 'A resource of configuration of any kind.',
  fields: (t) => ({
    id: t.exposeString('id'),
    body: t.field({
      type: 'JSON',
      description: 'Its fields, in the names of REST.',
      resolve: (view, _args, { scope }) => bodyOf(view, scope),
    }),
    version: t.exposeInt('version'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.expose('operation', { type: Operation, nullable: true }),
    warnings: t.stringList({
      nullable: true,
      resolve: ({ warnings }) => (warnings ? [...warnings] : null),
    }),
  }),
})
const DefinitionPage = pageType<Shown>('DefinitionPage', DefinitionType)

/** What is not a field of the resource itself. */
const ABOUT = [
  'kind',
  'baseId',
  'id',
  'version',
  'createdAt',
  'updatedAt',
  'operation',
  'warnings',
  'recordsRewritten',
  'dryRun',
]

function bodyOf(view: Shown, scope: Scope): object {
  const fields = Object.entries(view).filter(([name]) => !ABOUT.includes(name))
  return {
    ...snakeFields(Object.fromEntries(fields)),
    ...(view.kind === INBOUND_WEBHOOK.name && { ingest_url: `${scope.publicUrl()}${ingestPath(view)}` }),
  }
}

const named = (kind: string, view: View): Shown => ({ ...view, kind })

const ofKind = {
  required: true,
  description: '`trigger`, `inbound_webhook`, `action`, `endpoint`, …',
} as const
const target = () =>
  builder.args((t) => ({
    base: t.string({ required: true }),
    kind: t.string(ofKind),
    id: t.string({ required: true }),
  }))
const at = <S extends Scope>(scope: S, { base, kind, id }: { base: string; kind: string; id: string }) => ({
  kind: kindNamed(kind),
  scope,
  baseId: base,
  id,
})

builder.queryFields((t) => ({
  definitions: t.field({
    type: DefinitionPage,
    description: 'The resources of a kind of configuration, newest first.',
    args: { base: t.arg.string({ required: true }), kind: t.arg.string(ofKind), ...pageArgs() },
    resolve: async (_root, { base, kind, ...args }, { scope }): Promise<Page<Shown>> => {
      const page = await list(kindNamed(kind), scope, base, args)
      return { ...page, data: page.data.map((view) => named(kind, view)) }
    },
  }),
  definition: t.field({
    type: DefinitionType,
    description: 'A resource of configuration.',
    args: target(),
    resolve: async (_root, args, { scope }): Promise<Shown> => named(args.kind, await get(at(scope, args))),
  }),
}))

mutation('putDefinition', {
  description: 'Merges fields into a resource of configuration (RFC 7396), or creates it of them.',
  type: DefinitionType,
  carriesSecrets: true,
  args: builder.args((t) => ({
    ...target(),
    merge: t.field({ type: 'JSON', required: true, description: 'Fields in the names of the REST body.' }),
    ...versionArgs(),
  })),
  resolve: async (scope, { merge, ...args }): Promise<Shown> =>
    named(args.kind, await define(at(scope, args), merge as object, { expected: expectation(args) })),
})

mutation('deleteDefinition', {
  description: 'Deletes a resource of configuration.',
  type: Deleted,
  planned: notYetDeleted,
  args: { ...target(), ...versionArgs() },
  resolve: (scope, args) => remove(at(scope, args), { expected: expectation(args) }),
})
