/** GraphQL type, query and mutations of S3 credentials. */
import * as s3 from '../engine/files/s3-credentials/index.ts'
import { builder } from './builder.ts'
import { Deleted, targetArgs } from './common.ts'
import { mutation } from './mutation.ts'
import { pageArgs, pageType } from './page.ts'

const Permission = builder.enumType('S3Permission', { values: ['read', 'write'] as const })
const S3CredentialRef = builder.objectRef<s3.S3Credential>('S3Credential').implement({
  description: 'A temporary key to the files of a base, for clients of S3.',
  fields: (t) => ({
    id: t.exposeString('id'),
    masked: t.exposeString('masked'),
    fileType: t.exposeString('fileType', {
      nullable: true,
      description: 'The file type that it reaches; null for all.',
    }),
    permission: t.expose('permission', { type: Permission }),
    endpoint: t.exposeString('endpoint'),
    region: t.string({ resolve: () => s3.REGION }),
    bucket: t.exposeString('bucket', { description: 'The id of the base.' }),
    prefix: t.exposeString('prefix', { description: 'What the keys begin with; empty for all file types.' }),
    accessKeyId: t.exposeString('accessKeyId', { nullable: true, description: 'Returned once.' }),
    secretAccessKey: t.exposeString('secretAccessKey', { nullable: true, description: 'Returned once.' }),
    sessionToken: t.exposeString('sessionToken', { nullable: true, description: 'Returned once.' }),
    createdBy: t.exposeString('createdBy', { description: 'The id of the token that it belongs to.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
  }),
})

builder.queryFields((t) => ({
  s3Credentials: t.field({
    type: pageType('S3CredentialPage', S3CredentialRef),
    description:
      'The valid S3 credentials of the calling token in a base, newest first; with `manage` on the base, those of all tokens.',
    args: { base: t.arg.string({ required: true }), ...pageArgs() },
    resolve: (_root, { base, ...args }, { scope }) => s3.listS3Credentials(scope, base, args),
  }),
}))

mutation('createS3Credential', {
  description: 'Creates an S3 credential, with a part of the rights of the calling token.',
  type: S3CredentialRef,
  args: builder.args((t) => ({
    base: t.string({ required: true }),
    fileType: t.string({ description: 'The file type that it reaches; all of the base by default.' }),
    permission: t.field({ type: Permission, required: true }),
    expiresIn: t.int({ required: true, description: 'Seconds until it expires, 1 to 43200.' }),
  })),
  resolve: (scope, { base, fileType, ...input }) =>
    s3.createS3Credential(scope, base, { fileType: fileType ?? null, ...input }),
})

mutation('deleteS3Credential', {
  description: 'Revokes an S3 credential. The next request with it is refused.',
  type: Deleted,
  args: targetArgs(),
  resolve: (scope, { base, id }) => s3.deleteS3Credential(scope, base, id),
})
