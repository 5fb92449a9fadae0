import { Button } from '../../parts/button.tsx'
import './environments.css'
import { useState } from 'react'
import { to } from '../../addresses.ts'
import type { Base } from '../../api/shapes.ts'
import { Chip } from '../../parts/chip.tsx'
import { Empty, pendingOf } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { Icon } from '../../parts/icon.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { shortName } from '../../parts/previews.ts'
import { Promotions } from '../../parts/promotions.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { useEnvironments, useMaker } from './load.ts'
import { NewPreview } from './new-preview.tsx'
import { PreviewPanel } from './preview-panel.tsx'
import { State } from './state.tsx'

type Place = { base: string; preview?: string }

export default function Page({ place: { base, preview: id } }: { place: Place }) {
  const [isMaking, setMaking] = useState(false)
  const all = useEnvironments(base)
  const mayMake = useMay(all.production, '*', 'manage', 'preview')
  const open = all.previews.find(({ is }) => is.id === id)
  const heads = words.environments.heads
  return (
    <ListPage
      nav={words.nav.environments}
      title={words.environments.title}
      about={words.environments.about}
      isOpen={id !== undefined}
      tools={
        mayMake && <Button icon="plus" label={words.environments.make} onClick={() => setMaking(true)} />
      }
      gone={id !== undefined && !open && !all.isPending && !all.error && words.environments.gone}
      panel={
        <>
          {open && <PreviewPanel key={id} base={base} production={all.production} of={open} />}
          {isMaking && (
            <NewPreview base={base} production={all.production} onClose={() => setMaking(false)} />
          )}
        </>
      }
    >
      {pendingOf(all, 4) ?? (
        <>
          {all.main && <Production of={all.main} isHere={all.main.id === base} />}
          {all.previews.length === 0 ? (
            <Empty title={words.environments.none} hint={words.environments.noneHint} />
          ) : (
            <Table
              label={words.environments.title}
              rows={all.previews}
              keyOf={({ is }) => is.id}
              addressOf={({ is }) => to.environments(base, is.id)}
              selected={id}
              columns={[
                { head: heads.name, cell: ({ is }) => <Name of={is} isHere={is.id === base} /> },
                {
                  head: heads.kind,
                  isWide: true,
                  className: 'meta kind-cell',
                  cell: ({ is }) => words.environments.kinds[is.change_set ? 'set' : 'preview'],
                },
                {
                  head: heads.by,
                  isWide: true,
                  className: 'kind-cell',
                  cell: ({ is }) => <Maker of={is} />,
                },
                { head: heads.state, cell: (preview) => <State of={preview} /> },
                {
                  head: heads.at,
                  isNumber: true,
                  isWide: true,
                  cell: ({ is }) => <Time at={is.change_set?.written_at ?? is.created_at} as="span" />,
                },
              ]}
            />
          )}
          <Promotions base={all.production} />
        </>
      )}
    </ListPage>
  )
}

const Production = ({ of: { id, name, settings }, isHere }: { of: Base; isHere: boolean }) => (
  <p className="card card-item chips production-card">
    <Text in="strong">{name ?? id}</Text>
    <span>{words.environments.production}</span>
    {isHere && <Chip tone="info">{words.environments.thisOne}</Chip>}
    <span className="meta">
      {settings.schema_changes === 'preview_only' ? words.environments.protected : words.environments.direct}
    </span>
  </p>
)

const Maker = ({ of }: { of: Base }) => <Text>{useMaker(of) ?? ''}</Text>

const Name = ({ of: { id, change_set: set }, isHere }: { of: Base; isHere: boolean }) => (
  <span className="who">
    <span className="preview">
      <Icon name="environments" />
    </span>
    <Text>{set?.title ?? shortName(id)}</Text>
    {isHere && <Chip tone="info">{words.environments.thisOne}</Chip>}
  </span>
)
