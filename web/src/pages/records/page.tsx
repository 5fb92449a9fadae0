/** The records of a type: views, filters, facets, the grid, and what can be done with several at once. */
import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { type PageProps, type Search, to } from '../../addresses.ts'
import { pathOf, useType, useTypes, useWrite } from '../../api/queries.ts'
import type { Data, RecordType, Row } from '../../api/shapes.ts'
import { pendingOf } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { CopyAs, curlOf } from '../../parts/copied.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form, useFaults } from '../../parts/form.tsx'
import { useMay } from '../../parts/grants.ts'
import { useParameters } from '../../parts/link.tsx'
import { nameOf, pluralOf, searchFor, searchOf } from '../../parts/record-types.ts'
import { cut } from '../../parts/text.tsx'
import { NotFound } from '../../shell/guard.tsx'
import { Bar } from '../../shell/shell.tsx'
import { words } from '../../words.ts'
import { Conditions } from './conditions.tsx'
import { DeletedList } from './deleted.tsx'
import { ChartPanel, Facets } from './facets.tsx'
import { filterOf, parseFilter, printFilter, viewsOf } from './filter.ts'
import { RecordList } from './list.tsx'
import type { Listing } from './load.ts'
import { AsOf, QuickSearch, Tools } from './tools.tsx'
import { Views } from './views.tsx'
import './records.css'

/** So much of a name has room in a button. */
const NAME_CHARS = 24

export default function Page({ place: { base, type = '' } }: PageProps) {
  const types = useTypes(base)
  const found = useType(base, type)
  if (!found) return pendingOf(types, 8) ?? <NotFound />
  return <Records key={type} base={base} type={found} />
}

/** What the address asks for. Without a filter it is the first view of the type. */
function askedOf(type: RecordType, search: Search) {
  const [first] = viewsOf(type, words.records.views)
  const conditions = parseFilter(search['filter']) ?? parseFilter(first?.search['filter']) ?? []
  const q = search['q']?.trim() ?? ''
  const searched = q === '' ? undefined : searchFor(q, searchOf(type))
  // The best matches come first, unless an order is chosen.
  const sort = search['sort'] ?? (searched ? '' : '-updated_at')
  return { conditions, searched, sort, asOf: search['as_of'], filter: filterOf(conditions, searched) }
}

function Records({ base, type }: { base: string; type: RecordType }) {
  const [search, change] = useParameters()
  const [isNew, setNew] = useState(false)
  const mayWrite = useMay(base, type.id, 'write')
  const [stamp, setStamp] = useState(() => Date.now())
  const list: Listing = {
    ...{ base, type, search, stamp, change },
    ...askedOf(type, search),
    setConditions: (conditions) => change({ filter: printFilter(conditions), view: undefined }),
  }
  // What the rows answer that are there.
  const [read, setRead] = useState<string>()
  const question = printFilter(list.conditions) + search['q'] + list.asOf
  const isDeleted = search['view'] === 'deleted'
  const plural = pluralOf(type)
  return (
    <div className="column records">
      <Bar trail={[[words.nav.records], [plural]]}>
        {!isDeleted && <AsOf of={list} />}
        {!isDeleted && <CopyAs {...copiesOf(list)} />}
        <Button
          className="primary"
          label={words.records.make(cut(nameOf(type, type.id).toLowerCase(), NAME_CHARS).text)}
          disabled={!mayWrite}
          title={mayWrite ? undefined : words.mayNotWrite}
          onClick={() => setNew(true)}
        />
      </Bar>
      <main className="column grow records-main" aria-label={plural}>
        <div className="chips records-head">
          <Views of={list} />
          {!isDeleted && <Conditions of={list} />}
          {!isDeleted && <Tools of={list} />}
        </div>
        {isDeleted ? (
          <DeletedList base={base} type={type} />
        ) : (
          <>
            <div className="row gap-3 facets-row">
              <Facets of={list} isReady={read === question} />
              <QuickSearch of={list} />
            </div>
            {search['chart'] && <ChartPanel of={list} field={search['chart']} />}
            <RecordList of={list} onAgain={() => setStamp(Date.now())} onRead={() => setRead(question)} />
          </>
        )}
      </main>
      {isNew && <NewRecord base={base} type={type} onClose={() => setNew(false)} />}
    </div>
  )
}

function copiesOf({ base, type, filter, sort, asOf }: Listing) {
  const body = { ...(filter && { filter }), ...(sort && { sort }), ...(asOf && { as_of: asOf }) }
  const path = pathOf([base, 'records', type.id, 'query'])
  return {
    texts: {
      [words.copies.query]: JSON.stringify(body, null, 2),
      [words.copies.curl]: curlOf(path, body),
      [words.copies.link]: location.href,
    },
    rows: { path, body: { ...body, limit: 'all' }, name: type.id },
  }
}

/** A new record, by the schema of its type. */
function NewRecord({ base, type, onClose }: { base: string; type: RecordType; onClose: () => void }) {
  const [typed, setTyped] = useState<Data>({})
  const path = pathOf([base, 'records', type.id])
  const isTouched = Object.keys(typed).length > 0
  const faults = useFaults('POST', path, isTouched ? { data: typed } : undefined)
  // What is still empty is no fault while one types.
  const shown = faults.filter(
    ({ path: at }) => at.split('/').length > 2 && Object.hasOwn(typed, at.split('/')[2] ?? ''),
  )
  const write = useWrite<Row>(base)
  const name = nameOf(type, type.id).toLowerCase()
  const create = () =>
    write.send('POST', path, { data: typed }, ({ id }) => navigate(to.record(base, type.id, id)))
  return (
    <Dialog
      title={words.records.make(name)}
      onClose={onClose}
      act={{ label: words.records.create(name), isReady: isTouched, onSelect: create, write, isForm: true }}
    >
      <Form
        type={type}
        value={typed}
        onChange={setTyped}
        faults={write.error ? write.error.details : shown}
      />
    </Dialog>
  )
}
