/** Config as code: the configuration of a base as one file, its diff, and its application to a preview. */

import { timingSafeEqual } from 'node:crypto'
import { digest } from '../../contract/canonical-hash.ts'
import { toCamel } from '../../contract/field-names.ts'
import { productionOf } from '../../contract/ids.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { oneFault } from '../../foundation/errors.ts'
import { REDACTED } from '../../foundation/redacted.ts'
import { KINDS } from '../configuration/kinds.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import type { Kind, Stored } from '../configuration/lifecycle/kind.ts'
import { lockConfiguration } from '../configuration/lifecycle/lock.ts'
import { stepsOfIds } from '../configuration/lifecycle/read-in-steps.ts'
import { openSecret, secretsSetBy } from '../configuration/lifecycle/secrets.ts'
import type { Scope } from '../core/scope.ts'
import type { WriteScope } from '../core/write/write.ts'
import { requirePermission } from '../storage/access/access.ts'
import type { Db } from '../storage/database/client.ts'
import { applyEdits, type NewSecret, prepareEdits } from './apply-edits.ts'
import { editWarnings } from './change-warnings.ts'
import { type Edit, editsBetween, type Kept, nonEmpty, type ShownEdit, shown, summaryOf } from './edits.ts'
import { atList, atPlace } from './failures.ts'
import { type ConfigFile, readConfig } from './read-config.ts'
import { type Definitions, hashOf, listsOf, readSnapshot, type Snapshot, snapshotIn } from './snapshot.ts'

/** A config file: the lists of all kinds, and the hash of the whole. */
export type Config = { plinth: 1; base: string; hash: string } & Record<
  string,
  unknown | readonly Definition[]
>
export type ConfigDiff = {
  changes: readonly ShownEdit[]
  summary: Record<ShownEdit['op'], number>
  hash: string
  /** What a list of the file does not have, and stays without `prune`. */
  kept?: readonly Kept[]
  /** Secrets that were made for new resources. Only in the response to the PUT. */
  secrets?: readonly NewSecret[]
  /** What breaks for clients that were generated from the GraphQL schema of the base. */
  warnings?: readonly string[]
}

/**
 * Reads the configuration of a base as one file.
 * @throws FORBIDDEN; NOT_FOUND
 */
export async function getConfig(scope: Scope, baseId: string): Promise<Config> {
  requirePermission(scope.access, 'read', baseId, '*')
  const snapshot = await readSnapshot(scope, baseId)
  return { plinth: 1, base: baseId, ...listsOf(snapshot), hash: await hashOf(snapshot) }
}

/**
 * The address of the JSON Schema of config files, for the config of a base.
 * @throws FORBIDDEN
 */
export function configSchemaUrl(scope: Scope, baseId: string): string {
  requirePermission(scope.access, 'read', baseId, '*')
  return `${scope.publicUrl()}/config.schema.json`
}

/**
 * Compares a config file with the base: what applying it would change. `hash` is of the base as it is.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND
 */
export async function diffConfig(
  scope: Scope,
  baseId: string,
  config: unknown,
  prune: boolean,
): Promise<ConfigDiff> {
  requirePermission(scope.access, 'read', baseId, '*')
  const read = await readConfig(config, baseId)
  const live = await readSnapshot(scope, baseId)
  const maySet = scope.access.allows('manage', baseId, '*')
  const file = maySet ? await withoutKnown(scope, baseId, read) : read
  const edits = await editsBetween(live, wanted(live, file, prune))
  const changes = edits.map(shown)
  const prepared = await prepareEdits(edits, { located: (thrown) => thrown })
  const warnings = await editWarnings(scope, baseId, prepared)
  const kept = prune ? [] : missingIn(file, live)
  return { changes, summary: summaryOf(changes), hash: await hashOf(live), ...nonEmpty({ kept, warnings }) }
}

/**
 * Applies a config file to a preview in one transaction. With `prune`, resources that a list of the file does
 * not have are deleted, with their data.
 * @throws FORBIDDEN, also on a production base; VALIDATION_ERROR; NOT_FOUND; CONFLICT
 */
export async function putConfig(
  scope: WriteScope,
  baseId: string,
  config: unknown,
  { prune, hashes }: { prune: boolean; hashes: readonly string[] | null },
): Promise<ConfigDiff> {
  requirePermission(scope.access, 'manage', baseId, '*')
  if (productionOf(baseId) === baseId) throw onProduction(baseId)
  const read = await readConfig(config, baseId)
  return scope.db.transaction(async (tx) => {
    const within: WriteScope = { ...scope, db: tx }
    await lockConfiguration(within, baseId)
    const live = await snapshotIn(tx, baseId)
    const file = await withoutKnown(within, baseId, read)
    const hash = await hashOf(live)
    if (hashes && !hashes.includes(hash)) throw otherState('/expected_hash', hash, hashes.join(', '))
    if (file.hash !== null && file.hash !== hash) throw otherState('/hash', hash, file.hash)
    const edits = await editsBetween(live, wanted(live, file, prune))
    const located = (thrown: unknown, { kind, id, after }: Edit) =>
      after ? atPlace(thrown, file.at(kind, id)) : atList(thrown, kind)
    const prepared = await prepareEdits(edits, { located })
    const warnings = await editWarnings(within, baseId, prepared)
    const { secrets } = await applyEdits(within, baseId, prepared, { isForced: true, located })
    const changes = edits.map(shown)
    const next = edits.length === 0 ? hash : await hashOf(await snapshotIn(tx, baseId))
    const kept = prune ? [] : missingIn(file, live)
    return { changes, summary: summaryOf(changes), hash: next, ...nonEmpty({ kept, secrets, warnings }) }
  })
}

const withoutKnown = async (scope: Scope, baseId: string, file: ConfigFile): Promise<ConfigFile> => ({
  ...file,
  resources: await hideKnownSecrets(scope, baseId, file.resources),
})

/** The configuration after the file is applied. */
function wanted(live: Snapshot, { resources }: ConfigFile, prune: boolean): Snapshot {
  const next = new Map(live)
  for (const [kind, listed] of resources)
    next.set(kind, prune ? listed : new Map([...(live.get(kind) ?? []), ...listed]))
  return next
}

/** The resources of the base that the lists of the file do not have. */
const missingIn = ({ resources }: ConfigFile, live: Snapshot): Kept[] =>
  [...resources].flatMap(([kind, listed]) =>
    [...(live.get(kind)?.keys() ?? [])].flatMap((id) => (listed.has(id) ? [] : [{ kind, id }])),
  )

const otherState = (path: '/expected_hash' | '/hash', expected: string, received: string) => {
  const message = 'The hash is not that of this base as it is now. Pull the base and repeat your change.'
  const hint = path === '/hash' && 'Without "hash", the file is applied to the base as it is.'
  return oneFault('CONFLICT', message, {
    path,
    code: 'hash_mismatch',
    expected,
    received,
    ...(hint && { hint }),
  })
}

const onProduction = (baseId: string) =>
  oneFault('FORBIDDEN', `Base "${baseId}" is a production base. A config file is applied to a preview.`, {
    path: '/base_id',
    code: 'production_base',
    message: `Create a preview (${advised('create_preview')}) and send the file to it.`,
  })

// Secrets of a config file that equal the stored ones, so that they are no change.

type Vault = Pick<Scope, 'vault'> & { readonly db: Db }

/**
 * Hides the secrets that equal the stored ones. The result shows whether a guess is right, so it is only for callers who
 * may set the secrets.
 */
async function hideKnownSecrets(scope: Vault, baseId: string, resources: Snapshot): Promise<Snapshot> {
  const hidden = new Map(resources)
  for (const kind of KINDS) {
    const listed = hidden.get(kind.name)
    if (kind.secrets && listed) hidden.set(kind.name, await hideOf(scope, baseId, kind, listed))
  }
  return hidden
}

async function hideOf(scope: Vault, baseId: string, kind: Kind, listed: Definitions): Promise<Definitions> {
  const ids = [...listed].flatMap(([id, definition]) =>
    Object.keys(secretsSetBy(kind, definition)).length > 0 ? [id] : [],
  )
  const hidden = new Map(listed)
  for await (const rows of stepsOfIds(kind, scope.db, baseId, ids))
    for (const row of rows) {
      const definition = hidden.get(row.id) ?? {}
      hidden.set(row.id, { ...definition, ...knownIn(scope, baseId, kind, row, definition) })
    }
  return hidden
}

/** The secrets of a definition that equal those of the row, hidden. */
function knownIn(scope: Vault, baseId: string, kind: Kind, row: Stored, definition: Definition): Definition {
  const isKnown = ([name, given]: [string, unknown]) => {
    const field = toCamel(name)
    const sealed = (row as unknown as Readonly<Record<string, unknown>>)[field]
    const stored =
      typeof sealed === 'string' ? openSecret(scope, { kind, baseId, id: row.id }, field, sealed) : undefined
    return stored !== undefined && isEqual(stored, given)
  }
  const known = Object.entries(secretsSetBy(kind, definition)).filter(isKnown)
  return Object.fromEntries(known.map(([name]) => [name, REDACTED]))
}

/** Compares digests, so that the time does not depend on the secret. */
const isEqual = (stored: string, given: unknown): boolean =>
  timingSafeEqual(Buffer.from(digest(stored)), Buffer.from(digest(given)))
