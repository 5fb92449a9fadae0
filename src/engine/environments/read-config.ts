/** Reads a config file: its shape, and the canonical form of each resource in it. */
import { CONFIG_KINDS, ConfigBody, listName } from '../../contract/config-shapes.ts'
import { camelFields, toCamel } from '../../contract/field-names.ts'
import { productionOf } from '../../contract/ids.ts'
import { check, inBody } from '../../contract/validate.ts'
import { type Detail, DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { KINDS } from '../configuration/kinds.ts'
import { type Definition, definitionOf } from '../configuration/lifecycle/definition.ts'
import { readFields } from '../configuration/lifecycle/fields.ts'
import type { Kind } from '../configuration/lifecycle/kind.ts'
import { isRedacted, secretsSetBy } from '../configuration/lifecycle/secrets.ts'
import type { Definitions, Snapshot } from './snapshot.ts'

export type ConfigFile = {
  readonly hash: string | null
  /** The resources of each kind that the file lists. A kind without a list is absent. */
  readonly resources: Snapshot
  /** The place of a resource in the file. */
  at(kind: Kind, id: string): string
}

type Listed = readonly ({ id: string } & Definition)[]

/**
 * Reads a config file for a base.
 * @throws VALIDATION_ERROR with the faults of its resources
 */
export async function readConfig(config: unknown, baseId: string): Promise<ConfigFile> {
  refuseMany(config)
  const { base, hash = null, plinth: _, ...rest } = check(ConfigBody, config, inBody())
  const lists: Readonly<Record<string, unknown>> = rest
  if (base !== baseId && base !== productionOf(baseId)) throw otherBase(base, baseId)
  const faults: Detail[] = []
  const resources = new Map<string, Definitions>()
  const places = new Map<string, string>()
  for (const name of CONFIG_KINDS) {
    const list = lists[listName(name)] as Listed | undefined
    const kind = KINDS.find((each) => each.name === name)
    if (!kind && list?.length) faults.push(unsupported(name))
    if (!kind || !list) continue
    const read = new Map<string, Definition>()
    for (const [n, { id, ...definition }] of list.entries()) {
      if (turnIsOver()) await nextTurn()
      const at = `/${listName(name)}/${n}`
      if (read.has(id)) faults.push(duplicate(`${at}/id`, id))
      places.set(`${name} ${id}`, at)
      read.set(id, definition)
      try {
        refuseUnknown(kind, definition)
        const fields = readFields({ kind, id }, camelFields(definition), null)
        read.set(id, { ...definitionOf(kind, fields), ...secretsSetBy(kind, definition) })
      } catch (thrown) {
        const fault = withPaths(thrown, (path) => `${at}${path}`)
        if (!(fault instanceof DomainError)) throw thrown
        faults.push(...fault.details)
      }
      if (faults.length > LIMITS.errorDetails) break
    }
    resources.set(name, read)
  }
  const [first, ...more] = faults
  if (first) throw invalid(first, ...more)
  return { hash, resources, at: (kind, id) => places.get(`${kind.name} ${id}`) ?? '' }
}

/**
 * Counts the resources before their shape is checked, which is one step for all of them.
 * @throws VALIDATION_ERROR
 */
function refuseMany(config: unknown): void {
  const listed = Object.values(isObject(config) ? config : {}).filter(Array.isArray)
  const count = listed.reduce((sum, { length }) => sum + length, 0)
  if (count > LIMITS.configResources) throw tooMany(count)
}

/** A key outside the definition is a mistake. Null means the default. */
function refuseUnknown(kind: Kind, definition: Definition): void {
  const { body } = kind
  const isSent = ([name, value]: [string, unknown]) =>
    !Object.hasOwn(body.shape, name) || (value !== null && !isRedacted(kind, toCamel(name), value))
  check(body, Object.fromEntries(Object.entries(definition).filter(isSent)), inBody())
}

const otherBase = (received: string, baseId: string) =>
  invalid({
    path: '/base',
    code: 'other_base',
    message: `The file is of another base. It must be of "${baseId}"${productionOf(baseId) === baseId ? '' : `, or of its production base "${productionOf(baseId)}"`}.`,
    received,
    expected: baseId,
    hint: baseId,
  })

const tooMany = (received: number) =>
  invalid({
    path: '',
    code: 'too_large',
    message: `A config file has at most ${LIMITS.configResources} resources. Split it: what a file leaves out stays.`,
    received,
    expected: LIMITS.configResources,
  })

const duplicate = (path: string, received: string): Detail => ({
  path,
  code: 'duplicate',
  message: 'A resource of the same kind has this id. Keep one of them.',
  received,
})

const unsupported = (kind: string): Detail => ({
  path: `/${listName(kind)}`,
  code: 'unsupported',
  message: `This version has no ${listName(kind).replaceAll('_', ' ')}. Send an empty list.`,
})
