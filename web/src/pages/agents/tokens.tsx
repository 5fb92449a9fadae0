/** Who may come in: a row for each token, with what it used. */
import { useSearch } from 'wouter'
import { to } from '../../addresses.ts'
import type { Token } from '../../api/shapes.ts'
import { Empty } from '../../parts/failure.tsx'
import { grantWords, reaches } from '../../parts/grants.ts'
import { Text } from '../../parts/plain-text.tsx'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { whole } from '../../parts/text.ts'
import { Time } from '../../parts/time.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { kindOf, type useUsage } from './load.ts'

type Props = {
  base: string
  tokens: readonly Token[]
  usage: ReturnType<typeof useUsage>
  selected: string | undefined
}

export function Tokens({ base, tokens, usage, selected }: Props) {
  const search = useSearch()
  if (tokens.length === 0) return <Empty title={words.agents.none} />
  const heads = words.agents.heads
  const shown = (count: number) => (usage.isThere ? whole.format(count) : '')
  const used: TableColumn<Token>[] = [
    { head: heads.calls, isNumber: true, cell: (token) => shown(usage.sum(token).calls) },
    {
      head: heads.failed,
      isNumber: true,
      cell: (token) => {
        const { failed } = usage.sum(token)
        return <span className={failed > 0 ? 'failed-word' : ''}>{shown(failed)}</span>
      },
    },
    {
      head: heads.changed,
      isNumber: true,
      isWide: true,
      cell: (token) => shown(usage.sum(token).changes),
    },
  ]
  const columns: TableColumn<Token>[] = [
    { head: heads.who, cell: (token) => <Who name={token.name} kind={kindOf(token)} /> },
    {
      head: heads.kind,
      isWide: true,
      className: 'kind-cell meta',
      cell: (token) => words.kinds[kindOf(token)],
    },
    {
      head: heads.may,
      isWide: true,
      className: 'meta',
      cell: ({ grants }) => (
        <Text>{[...new Set(grants.filter((grant) => reaches(grant, base)).map(grantWords))].join('; ')}</Text>
      ),
    },
    ...(usage.isKnown ? used : []),
    {
      head: heads.last,
      isNumber: true,
      cell: ({ last_used_at: last }) =>
        last === null ? <span className="meta">{words.agents.never}</span> : <Time at={last} as="span" />,
    },
  ]
  return (
    <Table
      label={words.agents.title}
      columns={columns}
      rows={tokens}
      keyOf={({ id }) => id}
      addressOf={({ id }) => `${to.agents(base, id)}${search && `?${search}`}`}
      selected={selected}
    />
  )
}
