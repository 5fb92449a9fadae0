/** Alternative nouns in paths of /v1. The key is canonical and the only one in docs and output. */
const ALIASES: Record<string, readonly string[]> = {
  bases: ['workspaces', 'databases'],
  'record-types': ['collections'],
  records: ['documents'],
}

/** Expands a path to all its alias spellings, canonical first. Only whole segments are replaced. */
export function spellings(path: string): [string, ...string[]] {
  const choices = path.split('/').map((segment) => [segment, ...(ALIASES[segment] ?? [])])
  const all = choices.reduce<string[]>(
    (paths, names) =>
      paths.flatMap((start) => names.map((name) => (start === '' ? name : `${start}/${name}`))),
    [''],
  )
  const [, ...others] = all.map((spelling) => `/${spelling}`)
  return [path, ...others]
}
