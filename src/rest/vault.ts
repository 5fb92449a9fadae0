/** REST routes of the vault. */

import { z } from 'zod'
import { trim } from '../contract/response-bodies.ts'
import { SecretBody } from '../contract/secret-shapes.ts'
import { graphql } from '../graphql/document.ts'
import { byName } from './route/by-name.ts'
import { listOf, without } from './route/page.ts'
import { pageQuery } from './route/query.ts'
import { route, tagged } from './route/route.ts'
import { configurationId, Deleted, expectedVersion, time } from './route/shapes.ts'

const PATH = '/vault/secrets'

const Secret = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    bases: z.array(z.string()).meta({
      description:
        'The bases that may use it: ids, `*` for all production bases, `<base>--*` for all previews of a base.',
    }),
    created_by: z.string().nullable().meta({ description: 'The id of the token that created it.' }),
    version: z.int(),
    created_at: time,
    updated_at: time,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'Secret', description: 'A secret. Its value is never shown.' })
const MasterKeyRotation = z
  .object({
    key_id: z
      .string()
      .meta({ description: 'The id of the current master key, which reveals nothing about the key.' }),
    rewrapped: z.int().meta({ description: 'Secrets that were under another master key.' }),
    unreadable: z.int().meta({
      description: 'Secrets under a master key that the server does not have. They stay as they are.',
    }),
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'MasterKeyRotation' })

const SecretFields = graphql(`fragment SecretFields on Secret {
  name description bases created_by: createdBy version created_at: createdAt updated_at: updatedAt
}`)

const need = () => ({ admin: true }) as const
const params = z.strictObject({ name: configurationId('A secret', 'The name of a secret.') })

export const vault = tagged('Vault', [
  route(`GET ${PATH}`, {
    summary: 'List secrets, without their values',
    need,
    query: pageQuery,
    operation: graphql(
      `query ListSecrets($limit: Int, $offset: Int, $cursor: String, $includeTotal: Boolean) {
        page: secrets(limit: $limit, offset: $offset, cursor: $cursor, includeTotal: $includeTotal) {
          data { ...SecretFields } hasMore truncated limit offset total nextCursor
        }
      }`,
      [SecretFields],
    ),
    answers: listOf(Secret),
  }),
  route(`PUT ${PATH}/:name`, {
    summary: 'Create a secret or change it; what is left out stays as it is',
    need,
    params,
    body: SecretBody.extend({ expected_version: expectedVersion }),
    versioned: true,
    operation: graphql(
      `mutation PutSecret($name: String!, $input: SecretInput!, $expectedVersions: [Int!], $mustExist: Boolean, $mustBeAbsent: Boolean) {
        written: putSecret(name: $name, input: $input, expectedVersions: $expectedVersions, mustExist: $mustExist, mustBeAbsent: $mustBeAbsent) {
          ...SecretFields operation dry_run: dryRun
        }
      }`,
      [SecretFields],
    ),
    variables: (parts) => ({ ...byName(parts), input: without(parts.body, 'expected_version') }),
    reply: ({ written }) => ({
      status: written.operation === 'created' ? 201 : 200,
      location: `/v1${PATH}/${written.name}`,
      body: trim(without(written, 'operation')),
    }),
    statuses: [200, 201],
    answers: Secret,
  }),
  route(`GET ${PATH}/:name`, {
    summary: 'Get a secret, without its value',
    need,
    params,
    versioned: true,
    operation: graphql(`query GetSecret($name: String!) { found: secret(name: $name) { ...SecretFields } }`, [
      SecretFields,
    ]),
    answers: Secret,
  }),
  route(`DELETE ${PATH}/:name`, {
    summary: 'Delete a secret; what refers to it sends nothing from then on',
    need,
    params,
    versioned: true,
    operation: graphql(
      `mutation DeleteSecret($name: String!, $expectedVersions: [Int!], $mustExist: Boolean) {
        gone: deleteSecret(name: $name, expectedVersions: $expectedVersions, mustExist: $mustExist) { id deleted dry_run: dryRun }
      }`,
    ),
    answers: Deleted,
  }),
  route('POST /vault/rotate', {
    summary: 'Encrypt all secrets under the first master key of the server',
    need,
    operation: graphql(
      `mutation RotateMasterKey { rotated: rotateMasterKey { key_id: keyId rewrapped unreadable dry_run: dryRun } }`,
    ),
    answers: MasterKeyRotation,
  }),
])
