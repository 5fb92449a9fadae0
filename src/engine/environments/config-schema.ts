import { z } from 'zod'
import { CONFIG_KINDS, ConfigBody, listName } from '../../contract/config-shapes.ts'
import { KINDS } from '../configuration/kinds.ts'

/** The JSON Schema of config files, for editors: every kind with its fields. */
export function configSchema(): object {
  const lists = CONFIG_KINDS.map((name) => {
    const kind = KINDS.find((each) => each.name === name)
    const resource = z.strictObject({ id: z.string(), ...kind?.body.shape })
    const list = z.array(resource).optional()
    return [listName(name), kind ? list : list.meta({ maxItems: 0 })]
  })
  const file = ConfigBody.extend(Object.fromEntries(lists))
  const { $schema, ...schema } = z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' })
  return { $schema, title: 'Plinth config file', ...schema }
}
