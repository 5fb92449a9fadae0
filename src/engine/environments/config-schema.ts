/** The JSON Schema of config files, built from the bodies of all kinds. */
import { z } from 'zod'
import { CONFIG_KINDS, ConfigBody, listName } from '../../contract/config-shapes.ts'
import { toCamel } from '../../contract/field-names.ts'
import { REDACTED } from '../../foundation/redacted.ts'
import { KINDS } from '../configuration/kinds.ts'
import type { Kind } from '../configuration/lifecycle/kind.ts'

/** The JSON Schema of config files, for editors: every kind with its fields. */
export function configSchema(): object {
  const lists = CONFIG_KINDS.map((name) => {
    const kind = KINDS.find((each) => each.name === name)
    const resource = z.strictObject({ id: z.string(), ...(kind && fieldsOf(kind)) })
    const list = z.array(resource).optional()
    return [listName(name), kind ? list : list.meta({ maxItems: 0 })]
  })
  const file = ConfigBody.extend(Object.fromEntries(lists))
  const { $schema, ...schema } = z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' })
  return { $schema, title: 'Plinth config file', ...schema }
}

/** The fields of a kind. The placeholder of a secret is valid too. */
const fieldsOf = ({ body, secrets = {} }: Kind): z.ZodRawShape =>
  Object.fromEntries(
    Object.entries(body.shape).map(([name, shape]) => [
      name,
      toCamel(name) in secrets ? z.union([shape, z.literal(REDACTED)]) : shape,
    ]),
  )
