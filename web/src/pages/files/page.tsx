import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { type PageProps, to } from '../../addresses.ts'
import { pathOf, useWrite } from '../../api/queries.ts'
import { Empty, Failure, pendingOf, say } from '../../parts/answer.tsx'
import { Button, More } from '../../parts/button.tsx'
import { ListPage } from '../../parts/card.tsx'
import { Copied } from '../../parts/copied.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Segments } from '../../parts/fields.tsx'
import { useMay } from '../../parts/grants.ts'
import { useParameters } from '../../parts/link.tsx'
import { cut, Text } from '../../parts/text.tsx'
import { Bar } from '../../shell/shell.tsx'
import { words } from '../../words.ts'
import { FilePanel } from './file-panel.tsx'
import { List } from './list.tsx'
import { type FileType, filePath, useEntries, useFileTypes } from './load.ts'
import './files.css'

export default function Page({ place: { base, type: id } }: PageProps) {
  const types = useFileTypes(base)
  const all = types.data?.data ?? []
  const type = all.find((each) => each.id === (id ?? all[0]?.id))
  if (type) return <Files key={type.id} base={base} types={all} type={type} />
  return (
    <>
      <Bar trail={[[words.nav.files]]} />
      <main className="page">
        {pendingOf(types) ?? (
          <Empty
            title={id === undefined ? words.files.noTypes : words.files.noType}
            hint={id === undefined && words.files.noTypesHint}
          >
            {id !== undefined && <Link href={to.files(base)}>{words.nav.files}</Link>}
          </Empty>
        )}
      </main>
    </>
  )
}

/** The names of the folders above, each with its place. */
const foldersOf = (prefix: string) => {
  const parts = prefix.split('/').filter(Boolean)
  return parts.map((name, at) => [name, `${parts.slice(0, at + 1).join('/')}/`] as const)
}

function Files({ base, types, type }: { base: string; types: readonly FileType[]; type: FileType }) {
  const [{ in: prefix = '', q = '', file, v }, change] = useParameters()
  const [typed, setTyped] = useState(q)
  const list = useEntries(base, type.id, prefix, q)
  const mayWrite = useMay(base, '*', 'write')
  const [isMounting, setMounting] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const write = useWrite<unknown>(base)
  const upload = (files: Iterable<globalThis.File>) => {
    for (const content of files)
      write.send('PUT', pathOf(filePath(base, type.id, prefix + content.name)), content, () =>
        say(words.files.uploaded(cut(content.name, 60).text)),
      )
  }
  useEffect(() => setTyped(q), [q])
  const rows = list.data ?? []
  return (
    <ListPage
      nav={[
        [words.nav.files, to.files(base)],
        [type.name, to.files(base, type.id)],
        ...foldersOf(prefix).map(([name, place]) => [name, to.files(base, type.id, { in: place })] as const),
      ]}
      title={words.nav.files}
      about={type.description ?? words.files.about}
      bar={
        <Button
          className="quiet wide-only"
          icon="plug"
          label={words.files.mount}
          onClick={() => setMounting(true)}
        />
      }
      isOpen={file !== undefined}
      tools={
        types.length > 1 && (
          <Segments
            label={words.files.types}
            options={Object.fromEntries(types.map((each) => [each.id, each.name]))}
            value={type.id}
            onChange={(each) => navigate(to.files(base, each))}
          />
        )
      }
      onDragOver={(event) => mayWrite && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        if (mayWrite) upload(event.dataTransfer.files)
      }}
      panel={
        <>
          {file !== undefined && (
            <FilePanel key={file} base={base} type={type} path={file} version={Number(v) || undefined} />
          )}
          {isMounting && <Mount base={base} type={type.id} onClose={() => setMounting(false)} />}
        </>
      }
    >
      <form
        className="chips mb-3 files-tools"
        onSubmit={(event) => {
          event.preventDefault()
          change({ q: typed.trim() })
        }}
      >
        <input
          type="search"
          data-key="/"
          aria-label={words.files.search}
          placeholder={words.files.search}
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value)
            if (target.value === '') change({ q: '' })
          }}
        />
        {mayWrite && (
          <>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label={words.files.upload}
              onChange={({ target }) => upload(target.files ?? [])}
            />
            <Button
              className="still"
              icon="plus"
              label={words.files.upload}
              disabled={write.isPending}
              onClick={() => picker.current?.click()}
            />
          </>
        )}
      </form>
      {write.error && <Failure of={write.error} />}
      {pendingOf(list, 5) ??
        (rows.length === 0 ? (
          <Empty title={q === '' ? words.files.none : words.files.noMatch}>
            {q !== '' && <Button label={words.records.removeSearch} onClick={() => change({ q: '' })} />}
          </Empty>
        ) : (
          <List base={base} type={type.id} rows={rows} selected={file} />
        ))}
      <More of={list} label={words.nav.more} />
    </ListPage>
  )
}

const SECONDS = 6 * 3600
type Made = { mount: Record<'rclone' | 's3fs', string> | null }

/** Makes the files of a type a folder of a machine, by S3: the commands hold a key of their own, shown once. */
function Mount({ base, type, onClose }: { base: string; type: string; onClose: () => void }) {
  const write = useWrite<Made>(undefined)
  const mayWrite = useMay(base, '*', 'write')
  const make = (permission: string) =>
    write.send('POST', pathOf([base, 's3-credentials']), { file_type: type, permission, expires_in: SECONDS })
  return (
    <Dialog title={words.files.mountTitle} onClose={onClose} isWide>
      <p>{words.files.mountAbout}</p>
      {!write.data && (
        <p className="chips">
          <Button label={words.files.mountRead} disabled={write.isPending} onClick={() => make('read')} />
          {mayWrite && (
            <Button label={words.files.mountWrite} disabled={write.isPending} onClick={() => make('write')} />
          )}
        </p>
      )}
      {write.error && <Failure of={write.error} />}
      {Object.entries(write.data?.mount ?? {}).map(([tool, command]) => (
        <section key={tool}>
          <Text in="h3">{tool}</Text>
          <Copied label={tool} text={command} />
        </section>
      ))}
    </Dialog>
  )
}
