import type { Noun, Row } from './command.ts'
import { commandOf, operation, type Says } from './operations.ts'
import { merge, type Option, operations } from './options.ts'
import { showHistory } from './show-changes.ts'

type Spec = Pick<Noun, 'summary' | 'columns'> & {
  /** What options of `put` and `patch` say. */
  says?: Says
  /** Additional commands of this kind. */
  more?: readonly Row[]
}

/** A patch keeps what it does not name. */
const withoutDefault = (option: Option): Option => ({
  ...option,
  about: option.about.replace(/ \(default: [^()]*\)|\. Defaults to .*$/, ''),
})

/** Generates the commands of a configuration kind: list, get, history, put, patch, delete. */
export function configuration(many: string, { summary, columns, says = {}, more = [] }: Spec): Noun {
  const of = many.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  const patch = commandOf(`${of}.upsert`, 'patch', {
    summary: operation(`${of}.update`).summary,
    needsBody: true,
    says,
    without: ['if-none-match'],
    also: [merge, operations],
  })
  return {
    name: many.replace(/s$/, ''),
    summary,
    columns,
    rows: [
      commandOf(`${of}.list`, 'list'),
      commandOf(`${of}.get`, 'get'),
      commandOf(`${of}.history`, 'history', { show: showHistory }),
      ...more,
      commandOf(`${of}.upsert`, 'put', { says }),
      { ...patch, method: 'PATCH', options: patch.options.map(withoutDefault) },
      commandOf(`${of}.delete`, 'delete'),
    ],
  }
}
