import { type PageProps, to } from '../../addresses.ts'
import { useTypes } from '../../api/queries.ts'
import { Empty } from '../../parts/answer.tsx'
import { Button, Icon, type IconName } from '../../parts/button.tsx'
import { Facts, ListPage, Panel, Table } from '../../parts/card.tsx'
import { Segments } from '../../parts/fields.tsx'
import { TextLink, useParameters } from '../../parts/link.tsx'
import { kindName } from '../../parts/proposal.ts'
import { pluralOf } from '../../parts/record-types.ts'
import { Chip, Text, whole } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { DeliveryPanel } from './delivery-panel.tsx'
import {
  type Automatic,
  KINDS,
  type Kind,
  type Source,
  SPANS,
  type Span,
  saying,
  stopOf,
  useAutomation,
  useCounts,
} from './load.ts'
import { ActionPanel } from './runs.tsx'
import './automation.css'

export default function Page({ place: { base, kind, id } }: PageProps) {
  const [search, change] = useParameters()
  const all = useAutomation(base)
  const types = useTypes(base).data ?? []
  const heads = words.automation.heads
  const span: Span = SPANS.find((each) => each === search['span']) ?? '24h'
  const counts = useCounts(base, all.rows, span)
  const only = KINDS.find((each) => each === search['kind'])
  const shown = all.rows.filter(
    (row) =>
      (!only || row.kind === only) && (search['failed'] !== 'yes' || (counts(row.id)?.failed ?? 0) > 0),
  )
  const open = all.rows.find((row) => row.kind === kind && row.id === id)
  const numbered = KINDS.map((each) => [each, all.rows.filter((row) => row.kind === each).length] as const)
  const kinds = Object.fromEntries(
    numbered.flatMap(([each, count]) =>
      count > 0 ? [[each, `${words.automation.kinds[each]} ${count}`]] : [],
    ),
  ) as Partial<Record<Kind, string>>
  const back = to.automation(base) + location.search
  const panel =
    open?.kind === 'trigger' || open?.kind === 'inbound_webhook' ? (
      <DeliveryPanel key={open.id} base={base} of={open} span={span} back={back} counts={counts(open.id)} />
    ) : open?.kind === 'action' ? (
      <ActionPanel key={open.id} base={base} action={open.is} back={back} />
    ) : (
      open && <SourcePanel key={open.id} base={base} source={open.is} back={back} />
    )
  return (
    <ListPage
      nav={words.nav.automation}
      title={words.nav.automation}
      about={words.automation.about}
      isOpen={id !== undefined}
      tools={
        <Segments
          label={words.agents.span}
          options={words.agents.spans}
          value={span}
          onChange={(each) => change({ span: each === '24h' ? undefined : each })}
        />
      }
      gone={id !== undefined && !open && !all.isPending && !all.error && words.automation.gone}
      panel={panel}
    >
      <div className="chips spread mb-3">
        <Segments
          label={words.automation.kind}
          options={{ all: words.records.views.all, ...kinds } as Record<Kind | 'all', string>}
          value={only ?? 'all'}
          onChange={(each) => change({ kind: each === 'all' ? undefined : each })}
        />
        <label className="switch">
          <input
            type="checkbox"
            checked={search['failed'] === 'yes'}
            onChange={({ target }) => change({ failed: target.checked ? 'yes' : undefined })}
          />{' '}
          {words.automation.failedOnly}
        </label>
      </div>
      <Table
        reading={all}
        empty={
          all.rows.length > 0 ? (
            <Empty title={words.automation.noneOfFilter}>
              <Button label={words.activity.showAll} onClick={() => change({ kind: '', failed: '' })} />
            </Empty>
          ) : (
            <Empty title={words.automation.none} hint={words.automation.noneHint}>
              <a href="/guides/triggers">{words.nav.guides}</a>
            </Empty>
          )
        }
        label={words.nav.automation}
        columns={[
          [heads.name, (row) => <Name of={row} />],
          [heads.what, (row) => <Text>{saying(row, types)}</Text>, 'wide-only meta kind-cell sentence-cell'],
          [heads.sent, (row) => numberOf(counts(row.id)?.sent), 'number-cell'],
          [
            heads.failed,
            ({ id: of }) => (
              <span className={(counts(of)?.failed ?? 0) > 0 ? 'failed-word' : ''}>
                {numberOf(counts(of)?.failed)}
              </span>
            ),
            'number-cell',
          ],
        ]}
        rows={shown}
        keyOf={(row) => `${row.kind}/${row.id}`}
        addressOf={(row) => to.automation(base, row) + location.search}
        selected={kind && id && `${kind}/${id}`}
      />
    </ListPage>
  )
}

/** A source: what of another system it reads and writes. */
const SourcePanel = ({ base, source, back }: { base: string; source: Source; back: string }) => (
  <Panel back={back} title={<Text>{source.name}</Text>} note={kindName('source')}>
    <Facts
      of={{
        [words.automation.facts.of]: (
          <TextLink href={to.records(base, source.type.id)} text={pluralOf(source.type)} />
        ),
        [words.automation.facts.address]: <Text>{source.host}</Text>,
        [words.automation.facts.calls]: source.calls
          .map((call) => words.agents.bound.operations[call] ?? call)
          .join(', '),
      }}
    />
    <p className="card-item meta">{words.automation.sourceAbout}</p>
  </Panel>
)

const ICONS: Readonly<Record<Kind, IconName>> = {
  trigger: 'out',
  inbound_webhook: 'in',
  action: 'automation',
  source: 'plug',
}

const Name = ({ of }: { of: Automatic }) => (
  <span className="who">
    <Icon name={ICONS[of.kind]} />
    <Text>{of.name}</Text>
    {!of.isOn &&
      (stopOf(of) ? <Chip tone="removed">{words.automation.stopped}</Chip> : <Chip>{words.agents.off}</Chip>)}
  </span>
)

const numberOf = (count: number | undefined) => (count === undefined ? '' : whole.format(count))
