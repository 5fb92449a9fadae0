/** The files of the record, and the one that is open at its side: PDF in a frame, images and text as they are, others to save. */
import { useEffect, useRef, useState } from 'react'
import { pathOf, useRead } from '../../api/queries.ts'
import { Empty, pendingOf } from '../../parts/answer.tsx'
import { Button, Icon } from '../../parts/button.tsx'
import { Section } from '../../parts/card.tsx'
import { Text, Time } from '../../parts/text.tsx'
import { bytes, words } from '../../words.ts'
import { type File, type Place, recordPath } from './load.ts'

const KINDS: readonly [RegExp, string][] = [
  [/^application\/pdf$/, 'PDF'],
  [/^image\//, 'Image'],
  [/^text\//, 'Text'],
  [/^audio\//, 'Audio'],
  [/^video\//, 'Video'],
]
const kindOf = (contentType: string) =>
  KINDS.find(([pattern]) => pattern.test(contentType))?.[1] ?? contentType

type FilesProps = { files: readonly File[]; isAll: boolean; onOpen: (name: string) => void }

export function Files({ files, isAll, onOpen }: FilesProps) {
  if (files.length === 0) return isAll ? <Empty title={words.record.noFiles} /> : null
  return (
    <Section title={words.record.tabs.files} count={files.length}>
      <ul className="stack full tiles">
        {files.map(({ id, filename, content_type: type, size, created_at: at }) => (
          <li key={id} className="stack gap-1 box">
            <button type="button" className="full gap-3 file" onClick={() => onOpen(filename)}>
              <Icon name="files" />
              <span className="lines">
                <Text>{filename}</Text>
                <span className="note">
                  <Text>{kindOf(type)}</Text> · {bytes(size)} · <Time at={at} />
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** So much of a text is read; more is for an editor. */
const TEXT_BYTES = 256 * 1024

export function Viewer({ place, name, onClose }: { place: Place; name: string; onClose: () => void }) {
  const file = useRead<File & { url?: string }>(pathOf([...recordPath(place), 'attachments', name]))
  const pending = pendingOf(file, 6)
  const address = file.data?.url && ofThisServer(file.data.url)
  const element = useRef<HTMLElement>(null)
  // On a narrow screen it is below the record.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is shown in the same place
  useEffect(() => element.current?.scrollIntoView({ block: 'nearest' }), [name])
  return (
    <aside ref={element} className="column sunken viewer" aria-label={words.record.file(name)}>
      <header className="row">
        <Text in="h2" className="grow">
          {name}
        </Text>
        {file.data && <span className="note">{bytes(file.data.size)}</span>}
        {address && (
          <a className="button" href={address} download={name} title={words.record.save_file}>
            {words.record.save_file}
          </a>
        )}
        <Button className="quiet" icon="close" aria-label={words.close} onClick={onClose} />
      </header>
      {pending}
      {address && file.data && <Content key={file.data.id} address={address} of={file.data} />}
    </aside>
  )
}

/** The signed address names the server as others see it; the policy of the page allows its own only. */
const ofThisServer = (url: string): string => new URL(url, location.href).pathname

function Content({ address, of }: { address: string; of: File }) {
  const { content_type: type, filename: name, size } = of
  if (type === 'application/pdf') return <iframe className="box full" src={address} title={name} />
  if (type.startsWith('image/')) return <img className="box" src={address} alt={name} />
  if (type.startsWith('text/') || /[/+]json$/.test(type)) return <Plain address={address} size={size} />
  return <p className="note">{words.record.cannotShow}</p>
}

function Plain({ address, size }: { address: string; size: number }) {
  const [text, setText] = useState<string>()
  useEffect(() => {
    const stop = new AbortController()
    const headers = size > TEXT_BYTES ? { range: `bytes=0-${TEXT_BYTES - 1}` } : undefined
    fetch(address, { signal: stop.signal, ...(headers && { headers }) })
      .then((answer) => answer.text())
      .then(setText)
      .catch(() => undefined)
    return () => stop.abort()
  }, [address, size])
  if (text === undefined) return null
  return (
    <>
      {size > TEXT_BYTES && <p className="note">{words.record.shownPart(text.length)}</p>}
      <pre className="long box full">
        <Text>{text}</Text>
      </pre>
    </>
  )
}
