import { Button } from '../../parts/button.tsx'
import './automation.css'
import { to } from '../../addresses.ts'
import { Empty, pendingOf } from '../../parts/failure.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { useParameters } from '../../parts/search.ts'
import { Segments } from '../../parts/segments.tsx'
import { words } from '../../words.ts'
import { ActionPanel } from './action-panel.tsx'
import { DeliveryPanel } from './delivery-panel.tsx'
import { List } from './list.tsx'
import { KINDS, type Kind, SPANS, type Span, useAutomation, useCounts } from './load.ts'
import { SourcePanel } from './source-panel.tsx'

type Place = { base: string; kind?: string; id?: string }

export default function Page({ place: { base, kind, id } }: { place: Place }) {
  const [search, change] = useParameters()
  const all = useAutomation(base)
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
      title={words.automation.title}
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
      <div className="chips automation-filters">
        <Segments
          label={words.automation.kind}
          options={{ all: words.automation.all, ...kinds } as Record<Kind | 'all', string>}
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
      {pendingOf(all, 6) ??
        (shown.length === 0 ? (
          <Nothing isFiltered={all.rows.length > 0} onAll={() => change({ kind: '', failed: '' })} />
        ) : (
          <List base={base} rows={shown} counts={counts} selected={kind && id && `${kind}/${id}`} />
        ))}
    </ListPage>
  )
}

const Nothing = ({ isFiltered, onAll }: { isFiltered: boolean; onAll: () => void }) =>
  isFiltered ? (
    <Empty title={words.automation.noneOfFilter}>
      <Button label={words.activity.showAll} onClick={onAll} />
    </Empty>
  ) : (
    <Empty title={words.automation.none} hint={words.automation.noneHint}>
      <a href="/guides/triggers">{words.nav.guides}</a>
    </Empty>
  )
