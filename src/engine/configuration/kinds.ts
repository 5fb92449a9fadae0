/**
 * The list of all kinds of configuration, which promotions, config files, batches and reverts iterate over.
 */
import { unknownName } from '../../contract/suggest.ts'
import { invalid } from '../../foundation/errors.ts'
import { ACTION } from './actions/index.ts'
import { ENDPOINT } from './endpoints/endpoint.ts'
import { TOOLSET } from './endpoints/toolset.ts'
import { FILE_TYPE } from './file-types/index.ts'
import { INBOUND_WEBHOOK } from './inbound-webhooks/index.ts'
import type { Kind } from './lifecycle/kind.ts'
import { RECORD_TYPE } from './record-types/record-type.ts'
import { RELATIONSHIP_TYPE } from './relationship-types/relationship-type.ts'
import { SEED } from './seeds/row-faults.ts'
import { TRIGGER } from './triggers/index.ts'

/** All kinds of configuration, each after the kinds that it references. */
export const KINDS: readonly Kind[] = [
  RECORD_TYPE,
  RELATIONSHIP_TYPE,
  FILE_TYPE,
  ACTION,
  TRIGGER,
  INBOUND_WEBHOOK,
  TOOLSET,
  ENDPOINT,
  SEED,
]

/**
 * Finds a kind by name.
 * @throws VALIDATION_ERROR
 */
export function kindNamed(name: string): Kind {
  const kind = KINDS.find((each) => each.name === name)
  if (kind) return kind
  throw invalid({
    path: '/kind',
    code: 'enum',
    message: 'kind must be a kind of configuration.',
    ...unknownName(
      name,
      KINDS.map((each) => each.name),
    ),
  })
}
