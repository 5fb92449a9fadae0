/** A file: its content, its versions with what differs between them, and the way back to one. */
import { useState } from 'react'
import { to } from '../../addresses.ts'
import { Failure as Refusal } from '../../api/failure.ts'
import { type FileVersion, type Page, pathOf, type Token, useRead, useWrite } from '../../api/queries.ts'
import { request } from '../../api/send.ts'
import { Failure, pendingOf, say } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { CardItem, Panel } from '../../parts/card.tsx'
import { saveAs } from '../../parts/copied.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useMay } from '../../parts/grants.ts'
import { useParameters } from '../../parts/link.tsx'
import { Text, Time, visible } from '../../parts/text.tsx'
import { bytes, words } from '../../words.ts'
import { nameOf } from './list.tsx'
import { type FilePath, type FileType, filePath, useContent, useDiff, useText, useVersions } from './load.ts'

type Props = { base: string; type: FileType; path: string; version: number | undefined }

export function FilePanel({ base, type, path, version }: Props) {
  const [{ in: prefix, q }, change] = useParameters()
  const file = filePath(base, type.id, path)
  const name = nameOf(path)
  const versions = useVersions(file)
  const people = useRead<Page<Token>>(pathOf(['tokens'], { limit: 1000 })).data?.data ?? []
  const mayWrite = useMay(base, '*', 'write') && !type.storage.immutable
  const [isRemoving, setRemoving] = useState(false)
  const write = useWrite<unknown>(base)
  const all = versions.data?.data ?? []
  const [newest] = all
  const shown = all.find((each) => each.version === version) ?? newest
  const before = shown && all[all.indexOf(shown) + 1]
  const address = (of: number) => pathOf(file, { version: of })
  const back = to.files(base, type.id, { in: prefix, q })
  const [unread, setUnread] = useState<Refusal>()
  const failed = unread ?? write.error
  const reading = (read: Promise<void>) => {
    setUnread(undefined)
    read.catch((error: unknown) => error instanceof Refusal && setUnread(error))
  }
  const restore = async ({ version: old, content_type: kind }: FileVersion) => {
    const content = await (await request('GET', address(old))).blob()
    write.send('PUT', pathOf(file), new Blob([content], { type: kind }), () => {
      say(words.files.restored(old))
      change({ v: '' }, true)
    })
  }
  return (
    <Panel back={back} title={<Text>{name}</Text>} note={shown && bytes(shown.size)}>
      {pendingOf(versions, 6)}
      {shown && newest && (
        <>
          <p className="card-item chips">
            <Button
              label={words.files.download}
              onClick={() => reading(saveAs(name, address(shown.version)))}
            />
            {mayWrite && shown !== newest && (
              <Button
                label={words.files.restore(shown.version)}
                disabled={write.isPending}
                onClick={() => reading(restore(shown))}
              />
            )}
            {mayWrite && <Button className="danger" label={words.delete} onClick={() => setRemoving(true)} />}
          </p>
          {failed && <Failure of={failed} />}
          <Content
            key={shown.version}
            file={file}
            of={shown}
            address={address(shown.version)}
            onUnread={setUnread}
          />
          <CardItem title={words.files.versions}>
            <ul className="plain-list" aria-label={words.files.versions}>
              {all.map((each) => (
                <li key={each.version} className="row">
                  <Button
                    className="quiet"
                    label={words.record.short(each.version)}
                    aria-pressed={each === shown}
                    onClick={() => {
                      setUnread(undefined)
                      change({ v: String(each.version) }, true)
                    }}
                  />
                  <Text className="grow">
                    {people.find(({ id }) => id === each.created_by)?.name ?? each.label ?? ''}
                  </Text>
                  <span className="note">{bytes(each.size)}</span>
                  <Time at={each.created_at} />
                </li>
              ))}
            </ul>
          </CardItem>
          {before && <LineDiff file={file} from={before.version} to={shown.version} />}
        </>
      )}
      {isRemoving && (
        <Dialog
          title={<Text>{words.files.removeTitle(name)}</Text>}
          onClose={() => setRemoving(false)}
          act={{
            label: words.files.removeAct,
            tone: 'danger',
            write,
            onSelect: () =>
              write.send('DELETE', pathOf(file), undefined, () => {
                say(words.files.removed)
                change({ file: '', v: '' })
              }),
          }}
        >
          <p>{words.files.removeAbout}</p>
        </Dialog>
      )}
    </Panel>
  )
}

const IMAGE = /^image\//
const TEXT = /^text\/|[/+](json|xml|yaml)\b|javascript/

type ContentProps = {
  file: FilePath
  of: FileVersion
  address: string
  onUnread: (of: Refusal) => void
}

function Content({ file, of, address, onUnread }: ContentProps) {
  const name = file.at(-1) ?? ''
  const isText = TEXT.test(of.content_type)
  const text = useText(file, of.version, isText)
  const image = useContent(IMAGE.test(of.content_type) ? address : undefined, onUnread)
  if (isText)
    return (
      <div className="card-item">
        {pendingOf(text, 4)}
        {text.data?.text != null && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keys
          // biome-ignore lint/a11y/useSemanticElements: a group of fields is no box of text
          <pre className="long scroll" tabIndex={0} aria-label={words.record.file(name)} role="group">
            <Text>{text.data.text}</Text>
          </pre>
        )}
        {text.data?.has_more && <p className="note">{words.files.firstLines}</p>}
      </div>
    )
  if (image) return <img src={image} alt={name} />
  return IMAGE.test(of.content_type) ? null : <p className="card-item meta">{words.record.cannotShow}</p>
}

type LineDiffProps = { file: FilePath; from: number; to: number }

/** What differs between two versions of a text, line by line. */
function LineDiff({ file, from, to }: LineDiffProps) {
  const diff = useDiff(file, from, to)
  if (diff.data?.binary) return null
  const lines = (diff.data?.diff ?? '')
    .split('\n')
    .filter((line) => !/^(===|---|\+\+\+|\\)/.test(line))
    .slice(1)
  return (
    <CardItem title={words.files.changedSince(from)}>
      {pendingOf(diff, 3)}
      <div className="line-diff">
        {lines.map((line, at) => {
          const Mark = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span'
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other name
            <Mark key={at} className={line.startsWith('@@') ? 'note' : ''}>
              <bdi dir="auto">{visible(line.startsWith('@@') ? '…' : line)}</bdi>
            </Mark>
          )
        })}
      </div>
    </CardItem>
  )
}
