import type { Noun, Row } from './command.ts'
import { confirm, createOnly, ifMatch, type Option, paging, writing } from './options.ts'

type Spec = Pick<Noun, 'summary' | 'columns'> & {
  /** With its article: "a toolset". */
  label: string
  /** What it is put with. */
  fields: readonly Option[]
  /** What is deleted, where there is more to say than the label does. */
  removes?: string
  /** Others go with it, so its deletion may be to be confirmed. */
  confirms?: true
  /** Commands beyond those of every kind. */
  more?: readonly Row[]
}

/** The commands of a kind of configuration: list, get, put, delete. */
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
      { name: 'get', summary: `Show ${label}`, method: 'GET', path: one, options: [] },
      ...more,
      {
        name: 'put',
        summary: `Create ${label} or replace it`,
        method: 'PUT',
        path: one,
        options: [...fields, ifMatch, createOnly, ...writing],
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
