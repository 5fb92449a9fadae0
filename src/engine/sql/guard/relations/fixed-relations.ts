import { RELATION_COLUMNS } from '../../../../contract/record-columns.ts'
import { quoteText } from '../syntax/names.ts'
import type { Catalog } from './catalog.ts'
import type { SqlColumn } from './columns.ts'
import { PREVIOUS_STATE } from './previous-state.ts'

type Fixed = {
  view: string
  /** The columns, restricted by the grants where needed. */
  columns(catalog: Catalog): readonly SqlColumn[]
  /** The view filter for the grants, in addition to the base; empty if the base suffices. */
  filter(catalog: Catalog): string
}

const named = (names: string): SqlColumn[] => names.split(' ').map((name) => ({ name, expression: name }))

/** View columns without expressions. */
const plain = (names: string) => {
  const columns = named(names)
  return () => columns
}

/** Tests that `column` is a granted type. */
function granted(catalog: Catalog, column: string): string {
  if (catalog.readsAll) return ''
  return `${column} = ANY (ARRAY[${list(catalog)}]::text[])`
}

/** Tests that `column`, a jsonb list of types, includes a granted type or allows all types. */
function couldRead(catalog: Catalog, column: string): string {
  return catalog.readsAll
    ? ''
    : `${column} ?| ARRAY[${[quoteText('*'), list(catalog)].filter(Boolean).join(', ')}]::text[]`
}

/** Filters `column`, a jsonb list of types, to granted types. */
const onlyGranted = (catalog: Catalog, column: string): string =>
  `(SELECT jsonb_agg(n.value) FROM jsonb_array_elements(${column}) AS n WHERE n.value IN (${['*', ...catalog.types.map(({ id }) => id)].map((id) => `${quoteText(JSON.stringify(id))}::jsonb`).join(', ')}))`

/** The view says so too. */
const ownUnlessAll = ({ readsAll, tokenId }: Catalog): string =>
  readsAll ? '' : `token_id = ${quoteText(tokenId ?? '')}`

const list = ({ types }: Catalog) => types.map(({ id }) => quoteText(id)).join(', ')
const both = (first: string, second: string) => [first, second].filter(Boolean).join(' AND ')

const RELATIONSHIP_TYPE = named(
  'id name description data_schema source_record_types target_record_types cardinality on_delete version created_at updated_at',
)

const CHANGES = named(RELATION_COLUMNS.changes).map(({ name, expression }) => ({
  name,
  expression: PREVIOUS_STATE[name] ?? expression,
}))
/** The tool calls of other tokens are for readers of the whole base: names of tools and endpoints show what it has. */
const withOwnCalls = (tokenId: string | null): readonly SqlColumn[] =>
  CHANGES.map((column) =>
    column.name === 'call'
      ? { ...column, expression: `CASE WHEN token_id = ${quoteText(tokenId ?? '')} THEN call END` }
      : column,
  )

/** Built-in relations of every base, by name. */
export const FIXED: ReadonlyMap<string, Fixed> = new Map<string, Fixed>([
  [
    'claims',
    {
      view: 'claim',
      columns: plain(RELATION_COLUMNS.claims),
      filter: (catalog) => granted(catalog, 'record_type'),
    },
  ],
  [
    'records',
    {
      view: 'record',
      columns: plain('record_type id external_id external_source status version created_at updated_at data'),
      filter: (catalog) => granted(catalog, 'record_type'),
    },
  ],
  [
    'record_types',
    {
      view: 'record_type',
      columns: plain(
        'id name description icon color json_schema timezone display version created_at updated_at',
      ),
      filter: (catalog) => granted(catalog, 'id'),
    },
  ],
  [
    'changes',
    {
      view: 'change',
      // The view says so too.
      columns: ({ readsAll, tokenId }) => (readsAll ? CHANGES : withOwnCalls(tokenId)),
      filter: (catalog) =>
        catalog.readsAll
          ? `kind <> ALL (ARRAY['token', 'secret']::text[])`
          : `kind = 'record' AND ${granted(catalog, 'record_type')}`,
    },
  ],
  ['calls', { view: 'call', columns: plain(RELATION_COLUMNS.calls), filter: ownUnlessAll }],
  ['usage', { view: 'usage', columns: plain(RELATION_COLUMNS.usage), filter: ownUnlessAll }],
  [
    'relationships',
    {
      view: 'relationship',
      columns: plain(RELATION_COLUMNS.relationships),
      filter: (catalog) =>
        both(granted(catalog, 'source_record_type'), granted(catalog, 'target_record_type')),
    },
  ],
  [
    'relationship_types',
    {
      view: 'relationship_type',
      columns: (catalog) =>
        RELATIONSHIP_TYPE.map(({ name, expression }) => ({
          name,
          expression:
            name.endsWith('_record_types') && !catalog.readsAll ? onlyGranted(catalog, name) : expression,
        })),
      filter: (catalog) =>
        both(couldRead(catalog, 'source_record_types'), couldRead(catalog, 'target_record_types')),
    },
  ],
])
