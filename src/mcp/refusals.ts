import { DomainError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { InvalidParams } from './provider.ts'

/** The refusal of a tool that is more than the token may. */
export const beyondGrants = (name: string) =>
  new DomainError('FORBIDDEN', `The token may not use "${name.slice(0, 128)}".`, {
    details: [
      { path: '', code: 'missing_permission', message: 'tools/list names the tools this token may use.' },
    ],
  })

/** The refusal of a tool that there is not, with the nearest of those there are. */
export function unknownTool(name: string, known: readonly string[]): InvalidParams {
  const close = nearest(name, known)
  return new InvalidParams(
    `There is no tool "${name.slice(0, 128)}" here.${close ? ` Did you mean "${close}"?` : ''} tools/list names those there are.`,
  )
}
