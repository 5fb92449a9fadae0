/** GraphQL types, queries and mutations of the vault. */
import * as vault from '../engine/configuration/vault-secrets/index.ts'
import { expectation } from '../engine/core/write/preconditions.ts'
import { builder } from './builder.ts'
import { Deleted, expectationArgs, Operation, versionArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const SecretType = builder.objectRef<vault.Secret>('Secret').implement({
  description: 'A secret of the vault. Its value is never returned.',
  fields: (t) => ({
    name: t.exposeString('id'),
    description: t.exposeString('description', { nullable: true }),
    bases: t.stringList({
      description:
        'The bases that may use it: ids, `*` for all production bases, `<base>--*` for all previews of a base.',
      resolve: ({ bases }) => [...bases],
    }),
    createdBy: t.exposeString('createdBy', {
      nullable: true,
      description: 'The id of the token that created it.',
    }),
    version: t.exposeInt('version'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    operation: t.expose('operation', { type: Operation, nullable: true }),
  }),
})

const Rotation = builder.objectRef<vault.Rotation>('MasterKeyRotation').implement({
  description: 'What a rotation of the master key did.',
  fields: (t) => ({
    keyId: t.exposeString('keyId', { description: 'The id of the current master key.' }),
    rewrapped: t.exposeInt('rewrapped', { description: 'Secrets that were under another master key.' }),
    unreadable: t.exposeInt('unreadable', {
      description: 'Secrets under a master key that the server does not have. They stay as they are.',
    }),
  }),
})

builder.queryFields((t) => ({
  secrets: t.field({
    type: pageType('SecretPage', SecretType),
    description: 'The secrets that the calling token can manage, newest first.',
    args: pageArgs(),
    resolve: (_root, args, { scope }) => vault.listSecrets(scope, args),
  }),
  secret: t.field({
    type: SecretType,
    args: { name: t.arg.string({ required: true }) },
    resolve: (_root, { name }, { scope }) => vault.getSecret(scope, name),
  }),
}))

const SecretInput = builder.inputType('SecretInput', {
  fields: (t) => ({
    value: t.string({ description: 'Left out, it keeps the stored one.' }),
    description: t.string(),
    bases: t.stringList({ description: '`["*"]` for a new secret. Left out, it keeps the stored ones.' }),
  }),
})

mutation('putSecret', {
  description: 'Creates a secret or changes it: what is left out stays as it is.',
  type: SecretType,
  carriesSecrets: true,
  args: builder.args((t) => ({
    name: t.string({ required: true }),
    input: t.field({ type: SecretInput, required: true }),
    ...expectationArgs(),
  })),
  resolve: (scope, { name, input: { value, bases, ...more }, ...expected }) =>
    vault.putSecret(
      scope,
      name,
      // Null is a description; of the others, it is left out.
      { ...more, ...(value != null && { value }), ...(bases != null && { bases }) },
      expectation(expected),
    ),
})

mutation('deleteSecret', {
  description: 'Deletes a secret. What refers to it sends nothing from then on.',
  type: Deleted,
  args: builder.args((t) => ({ name: t.string({ required: true }), ...versionArgs() })),
  resolve: (scope, { name, ...expected }) => vault.deleteSecret(scope, name, expectation(expected)),
})

mutation('rotateMasterKey', {
  description:
    'Encrypts the data keys of all secrets under the first master key of the server. Run it again after an interruption.',
  type: Rotation,
  args: {},
  resolve: (scope) => vault.rotateMasterKey(scope),
})
