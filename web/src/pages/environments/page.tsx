import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { type PageProps, to } from '../../addresses.ts'
import { type Base, pathOf, useWrite } from '../../api/queries.ts'
import { Empty, pendingOf, say } from '../../parts/answer.tsx'
import { Button, Icon } from '../../parts/button.tsx'
import { ListPage, Table } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Fields } from '../../parts/fields.tsx'
import { useMay } from '../../parts/grants.ts'
import { Promotions } from '../../parts/promotions.tsx'
import { baseName, shortName } from '../../parts/proposal.ts'
import { Chip, Text, Time } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { useEnvironments, useMaker } from './load.ts'
import { PreviewPanel, State } from './preview-panel.tsx'

export default function Page({ place: { base, preview: id } }: PageProps) {
  const [isMaking, setMaking] = useState(false)
  const all = useEnvironments(base)
  const mayMake = useMay(all.production, '*', 'manage', 'preview')
  const open = all.previews.find(({ is }) => is.id === id)
  const heads = words.environments.heads
  return (
    <ListPage
      nav={words.nav.environments}
      title={words.nav.environments}
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
          <Table
            empty={<Empty title={words.environments.none} hint={words.environments.noneHint} />}
            label={words.nav.environments}
            rows={all.previews}
            keyOf={({ is }) => is.id}
            addressOf={({ is }) => to.environments(base, is.id)}
            selected={id}
            columns={[
              [heads.name, ({ is }) => <Name of={is} isHere={is.id === base} />],
              [
                heads.kind,
                ({ is }) => words.environments.kinds[is.change_set ? 'set' : 'preview'],
                'wide-only meta kind-cell',
              ],
              [heads.by, ({ is }) => <Maker of={is} />, 'wide-only kind-cell'],
              [heads.state, (preview) => <State of={preview} />],
              [
                heads.at,
                ({ is }) => <Time at={is.change_set?.written_at ?? is.created_at} as="span" />,
                'number-cell wide-only',
              ],
            ]}
          />
          <Promotions base={all.production} />
        </>
      )}
    </ListPage>
  )
}

const Production = ({ of: { id, name, settings }, isHere }: { of: Base; isHere: boolean }) => (
  <p className="card card-item chips mb-3">
    <Text in="strong">{name ?? id}</Text>
    <span>{words.nav.production}</span>
    {isHere && <Chip tone="info">{words.environments.thisOne}</Chip>}
    <span className="meta end">
      {settings.schema_changes === 'preview_only' ? words.environments.protected : words.environments.direct}
    </span>
  </p>
)

const Maker = ({ of }: { of: Base }) => <Text>{useMaker(of) ?? ''}</Text>

const Name = ({ of, isHere }: { of: Base; isHere: boolean }) => (
  <span className="who">
    <span className="changed-word">
      <Icon name="environments" />
    </span>
    <Text>{baseName(of)}</Text>
    {isHere && <Chip tone="info">{words.environments.thisOne}</Chip>}
  </span>
)

type Props = { base: string; production: string; onClose: () => void }
const { copies } = words.environments

/** Makes a preview: its name, and what it begins with. */
function NewPreview({ base, production, onClose }: Props) {
  const [draft, setDraft] = useState({ name: '', copy: 'config_and_sample' })
  const write = useWrite<Base>(undefined)
  const make = () =>
    write.send('POST', pathOf([production, 'preview']), draft, (made) => {
      say(words.environments.made(shortName(made.id)))
      onClose()
      navigate(to.environments(base, made.id))
    })
  return (
    <Dialog
      title={words.environments.make}
      onClose={onClose}
      act={{ label: words.environments.act, isReady: draft.name !== '', onSelect: make, write, isForm: true }}
    >
      <div className="form-grid">
        <Fields
          of={[
            { name: 'name', label: words.token.name, hint: words.environments.nameHint, required: true },
            { name: 'copy', label: words.environments.copy, options: Object.entries(copies) },
          ]}
          draft={draft}
          onChange={setDraft}
        />
      </div>
    </Dialog>
  )
}
