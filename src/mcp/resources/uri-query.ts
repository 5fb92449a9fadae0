import { unknownName } from '../../contract/suggest.ts'
import { InvalidParams } from '../protocol/provider.ts'

/**
 * The parameters of a list resource as an object. `list` names the list in the error.
 * @throws InvalidParams for an unknown parameter
 */
export function queryOf(
  query: ReadonlyMap<string, string>,
  list: string,
  parameters: readonly string[],
): Record<string, string> {
  const unknown = [...query.keys()].find((name) => !parameters.includes(name))
  if (unknown === undefined) return Object.fromEntries(query)
  const { received, hint } = unknownName(unknown, parameters)
  const meant = hint ? ` Did you mean "${hint}"?` : ''
  throw new InvalidParams(`${list} takes no "${received}".${meant} It takes ${parameters.join(' and ')}.`)
}
