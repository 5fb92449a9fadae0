/** Finds properties that no schema declares and that have the name of a relationship type: a link was meant. */

import { isObject } from '../../foundation/is-object.ts'
import { readableRelationshipTypes } from '../configuration/relationship-types/index.ts'
import type { Scope } from '../core/scope.ts'
import { isAmong } from '../schema/compiled-types/compiled-relationship-type.ts'
import type { CompiledType } from '../schema/compiled-types/compiled-type.ts'
import { rootProperties } from '../schema/json-schema/fields.ts'

/** The warnings about what a caller sends for an open type: misspelt properties, and links as properties. */
export async function warningsOf(
  scope: Scope,
  type: CompiledType,
  sent: unknown,
): Promise<readonly string[]> {
  if (!type.schema.misspelt || !isObject(sent)) return []
  const misspelt = type.schema.misspelt(sent)
  const declared = rootProperties(type.jsonSchema)
  const others = Object.keys(sent).filter((name) => !Object.hasOwn(declared, name))
  if (others.length === 0) return misspelt
  const links = await readableRelationshipTypes(scope, type.baseId)
  const meant = others.flatMap((name) => {
    const link = links.get(name)
    return link && isAmong(type.id, [...link.sourceRecordTypes, ...link.targetRecordTypes]) ? [name] : []
  })
  return [
    ...misspelt,
    ...meant.map(
      (name) =>
        `data/${name} is not a property of the schema. It is stored as sent, and links nothing. To link, send "relationships": [{"rel_type":"${name}","record_type":…,"id":…}].`,
    ),
  ]
}
