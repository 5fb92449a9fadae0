/** Secrets of a config file that equal the stored ones, so that they are no change. */
import { timingSafeEqual } from 'node:crypto'
import { digest } from '../../contract/canonical-hash.ts'
import { toCamel } from '../../contract/field-names.ts'
import { REDACTED } from '../../foundation/redacted.ts'
import { KINDS } from '../configuration/kinds.ts'
import type { Definition } from '../configuration/lifecycle/definition.ts'
import type { Kind, Stored } from '../configuration/lifecycle/kind.ts'
import { stepsOfIds } from '../configuration/lifecycle/read-in-steps.ts'
import { openSecret, secretsSetBy } from '../configuration/lifecycle/secrets.ts'
import type { Scope } from '../core/scope.ts'
import type { Db } from '../storage/database/client.ts'
import type { Definitions, Snapshot } from './snapshot.ts'

type Vault = Pick<Scope, 'vault'> & { readonly db: Db }

/**
 * Hides the secrets that equal the stored ones. The result shows whether a guess is right, so it is only for callers who
 * may set the secrets.
 */
export async function hideKnownSecrets(scope: Vault, baseId: string, resources: Snapshot): Promise<Snapshot> {
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
