/** Prints who made a change, and the versions of a resource. */
import type { Answer } from './client.ts'
import { show } from './print.ts'

export type Actor = { name: string; via: string }
type Versions = { data: { actor: Actor }[] }

/** An actor in one cell: the name of its token, and the interface. */
export const actorCell = ({ name, via }: Actor): string => `${name} (${via})`

/** Prints a list of versions. */
export function showHistory(answer: Answer): void {
  const { data, ...rest } = answer.body as Versions
  const rows = data.map((version) => ({ ...version, actor: actorCell(version.actor) }))
  show({ ...answer, body: { ...rest, data: rows } }, ['version', 'operation', 'at', 'actor', 'diff'])
}
