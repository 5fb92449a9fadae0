import type { Clean } from './reader.ts'
import type { Definitions } from './references.ts'

/**
 * The validator's code for members that follow each other nests one level deeper with each, and JavaScript itself
 * cannot nest some thousands. So long maps and lists become several short ones, each a function of its own.
 */
const WIDEST = 32

const MAPS = ['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired', 'dependencies']

/** Rewrites a clean schema so that none of its keywords is too long to compile; gives back the schemas it made. */
export function narrow(schema: Clean, definitions: Definitions): Clean[] {
  const made: Clean[] = []
  const part = (content: Clean): Clean => {
    made.push(content)
    return { $ref: definitions.add(content) }
  }
  const all = (schema['allOf'] as unknown[] | undefined) ?? []
  for (const keyword of MAPS) {
    const members = Object.entries(schema[keyword] ?? {})
    if (members.length <= WIDEST) continue
    for (const some of chunks(members)) all.push(part({ [keyword]: Object.fromEntries(some) }))
    // The names stay, for the keywords that take what these leave over.
    if (keyword.endsWith('roperties'))
      schema[keyword] = Object.fromEntries(members.map(([name]) => [name, true]))
    else delete schema[keyword]
  }
  if (all.length > 0)
    schema['allOf'] = all.length <= WIDEST ? all : chunks(all).map((some) => part({ allOf: some }))
  const any = schema['anyOf']
  if (Array.isArray(any) && any.length > WIDEST)
    schema['anyOf'] = chunks(any).map((some) => part({ anyOf: some }))
  return made
}

function chunks<T>(list: T[]): T[][] {
  const count = Math.ceil(list.length / WIDEST)
  return Array.from({ length: count }, (_, i) => list.slice(i * WIDEST, (i + 1) * WIDEST))
}
