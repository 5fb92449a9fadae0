/** The other nouns the /v1 contract accepts. The key is canonical: it is what we write, print and document. */
const ALIASES: Record<string, readonly string[]> = {
  bases: ['workspaces', 'databases'],
  'record-types': ['collections'],
  records: ['documents'],
}

/** `/bases/:id` → every spelling of it, canonical first. Only whole path segments are nouns. */
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
