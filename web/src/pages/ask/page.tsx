import { Button } from '../../parts/button.tsx'
import { Rows } from '../../parts/card.tsx'
import { CopyAs, curlOf } from '../../parts/copied.tsx'
import { Segments } from '../../parts/fields.tsx'
import './ask.css'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { type PageProps, to } from '../../addresses.ts'
import { pathOf, type RecordType, type Failure as Refusal, send, useTypes } from '../../api/queries.ts'
import { pendingOf } from '../../parts/answer.tsx'
import { useParameters } from '../../parts/link.tsx'
import { pluralOf, stateField } from '../../parts/record-types.ts'
import { Text, Tool } from '../../parts/text.tsx'
import { Bar } from '../../shell/shell.tsx'
import { words } from '../../words.ts'
import { Editor } from './editor.tsx'
import { readBy, relationsOf } from './relations.ts'
import { type Answer, numbersOf, Result } from './result.tsx'

const MOST_ROWS = 1000
const CELL = 300

export default function Page({ place: { base } }: PageProps) {
  const [{ sql = '', as }, change] = useParameters()
  const [typed, setTyped] = useState(sql)
  const types = useTypes(base).data ?? []
  const relations = relationsOf(types)
  const path = pathOf([base, 'sql'])
  const body = { query: sql, limit: MOST_ROWS }
  // Not under the address of the base: what others write does not ask again.
  const answer = useQuery<Answer, Refusal>({
    queryKey: ['ask', base, sql],
    queryFn: ({ signal }) => send<Answer>('POST', `${path}?max_string=${CELL}`, body, { signal }),
    enabled: sql !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  useEffect(() => setTyped(sql), [sql])
  const text = typed.trim()
  const ask = () => {
    if (text === '') return
    if (text === sql) void answer.refetch()
    else change({ sql: text })
  }
  const isDrawn = as === 'chart' && answer.data !== undefined && numbersOf(answer.data).length > 0
  const read = readBy(text, relations)
  return (
    <>
      <Bar trail={[[words.nav.ask]]}>
        {sql !== '' && (
          <CopyAs
            texts={{
              [words.copies.sql]: sql,
              [words.copies.curl]: curlOf(path, body),
              [words.copies.link]: location.href,
            }}
            rows={{ path, body: { query: sql, limit: 'all' }, name: base }}
          />
        )}
      </Bar>
      <main className="page stack gap-4 ask">
        <div>
          <h1>{words.nav.ask}</h1>
          <p className="meta">{words.ask.about}</p>
        </div>
        <Editor sql={typed} relations={relations} onChange={setTyped} onAsk={ask} />
        <div className="chips">
          <button type="button" className="primary" disabled={text === '' || answer.isFetching} onClick={ask}>
            {words.nav.ask} <kbd className="wide-only">Ctrl Enter</kbd>
          </button>
          {read.length > 0 && (
            <span className="meta">
              {words.ask.reads}{' '}
              {read.map(({ name }) => (
                <Tool key={name} name={name} />
              ))}
            </span>
          )}
          {answer.data && numbersOf(answer.data).length > 0 && (
            <Segments
              label={words.ask.shownAs}
              options={words.ask.shapes}
              value={isDrawn ? 'chart' : 'table'}
              onChange={(shape) => change({ as: shape === 'chart' ? shape : undefined }, true)}
            />
          )}
        </div>
        {sql === '' ? (
          <Examples types={types} onTake={(question) => change({ sql: question })} />
        ) : (
          (pendingOf(answer, 6) ??
          (answer.data && (
            <>
              <p className="meta" role="status">
                {words.ask.rows(answer.data.data.length)}
                {answer.data.meta.has_more && ` ${words.ask.more}`}
                {text !== sql && ` ${words.ask.edited}`}
                {answer.data.meta.hint !== undefined && (
                  <>
                    {' '}
                    <Text>{answer.data.meta.hint}</Text>
                  </>
                )}
              </p>
              <Result of={answer.data} isChart={isDrawn} />
            </>
          )))
        )}
        <p className="meta chips">
          {words.ask.other}
          {types[0] && (
            <Link className="button quiet" href={to.records(base, types[0].id)}>
              {pluralOf(types[0])}
            </Link>
          )}
          <a className="button quiet" href="/guides/sql">
            {words.nav.guides}
          </a>
        </p>
      </main>
    </>
  )
}

/** Questions that the base can answer, to begin with. */
function Examples({ types, onTake }: { types: readonly RecordType[]; onTake: (sql: string) => void }) {
  const type = types.find(stateField)
  const state = type && stateField(type)?.name
  const examples: readonly (readonly [string, string])[] = [
    ...(type && state !== undefined
      ? [
          [
            words.ask.examples.byState(pluralOf(type).toLowerCase(), state),
            `SELECT "${state}", count(*) AS count\nFROM "${type.id}"\nGROUP BY 1\nORDER BY 2 DESC`,
          ] as const,
        ]
      : []),
    [
      words.ask.examples.authors,
      `SELECT actor_name, count(*) AS changes\nFROM changes\nWHERE at > now() - interval '1 day'\nGROUP BY 1\nORDER BY 2 DESC`,
    ],
    [
      words.ask.examples.failed,
      `SELECT tool, outcome, count(*) AS calls\nFROM calls\nWHERE outcome <> 'ok'\nGROUP BY 1, 2\nORDER BY 3 DESC`,
    ],
  ]
  return (
    <section aria-label={words.ask.begin}>
      <h2>{words.ask.begin}</h2>
      <Rows
        of={examples.map(([name, sql]) => [
          name,
          <Button key={name} className="quiet" label={name} onClick={() => onTake(sql)} />,
        ])}
      />
    </section>
  )
}
