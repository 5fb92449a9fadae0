import type { Noun, Row } from './command.ts'
import {
  confirm,
  createOnly,
  ifMatch,
  merge,
  type Option,
  operations,
  paging,
  query,
  writing,
} from './options.ts'
import { showHistory } from './show-history.ts'

type Spec = Pick<Noun, 'summary' | 'columns'> & {
  /** With its article: "a toolset". */
  label: string
  /** Options of `put`. */
  fields: readonly Option[]
  /** What `delete` removes, if it is more than the label says. */
  removes?: string
  /** The delete cascades, so it may need a confirmation. */
  confirms?: true
  /** Additional commands of this kind. */
  more?: readonly Row[]
}

/** A patch keeps what it does not name. */
const withoutDefault = (option: Option): Option => ({
  ...option,
  about: option.about.replace(/ \(default: [^()]*\)/, ''),
})

/** Generates the commands of a configuration kind: list, get, history, put, patch, delete. */
export function configuration(path: `/:base_id/${string}`, spec: Spec): Noun {
  const { label, fields, removes = label, confirms, more = [] } = spec
  const many = path.slice(path.lastIndexOf('/') + 1)
  const one = `${path}/:id`
  return {
    name: many.replace(/s$/, ''),
    summary: spec.summary,
    columns: spec.columns,
    rows: [
      {
        name: 'list',
        summary: `List ${many.replaceAll('-', ' ')}`,
        method: 'GET',
        path,
        options: paging,
      },
      {
        name: 'get',
        summary: `Show ${label}`,
        method: 'GET',
        path: one,
        options: [query('--version <number>', 'version', 'show this version')],
      },
      {
        name: 'history',
        summary: `List the versions of ${label}, newest first`,
        method: 'GET',
        path: `${one}/history`,
        options: paging,
        show: showHistory,
      },
      ...more,
      {
        name: 'put',
        summary: `Create ${label} or replace it`,
        method: 'PUT',
        path: one,
        options: [...fields, ifMatch, createOnly, ...writing],
      },
      {
        name: 'patch',
        summary: `Change parts of ${label}`,
        method: 'PATCH',
        path: one,
        needsBody: true,
        options: [...fields.map(withoutDefault), merge, operations, ifMatch, ...writing],
      },
      {
        name: 'delete',
        summary: `Delete ${removes}`,
        method: 'DELETE',
        path: one,
        options: [...(confirms ? [confirm] : []), ifMatch, ...writing],
      },
    ],
  }
}
