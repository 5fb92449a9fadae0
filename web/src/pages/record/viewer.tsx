/** A file at the side of its record: PDF in a frame, images and text as they are, others to save. */
import { useEffect, useRef, useState } from 'react'
import { pathOf, useRead } from '../../api/queries.ts'
import { Button } from '../../parts/button.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { Text } from '../../parts/text.tsx'
import { bytes, words } from '../../words.ts'
import { type File, type Place, recordPath } from './load.ts'

/** So much of a text is read; more is for an editor. */
const TEXT_BYTES = 256 * 1024

type Props = { place: Place; name: string; onClose: () => void }

export function Viewer({ place, name, onClose }: Props) {
  const file = useRead<File & { url?: string }>(pathOf([...recordPath(place), 'attachments', name]))
  const pending = pendingOf(file, 6)
  const address = file.data?.url && ofThisServer(file.data.url)
  const element = useRef<HTMLElement>(null)
  // On a narrow screen it is below the record.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is shown in the same place
  useEffect(() => element.current?.scrollIntoView({ block: 'nearest' }), [name])
  return (
    <aside ref={element} className="viewer" aria-label={words.record.file(name)}>
      <header className="row">
        <Text in="h2">{name}</Text>
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
  if (type === 'application/pdf') return <iframe src={address} title={name} />
  if (type.startsWith('image/')) return <img src={address} alt={name} />
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
      <pre className="long">
        <Text>{text}</Text>
      </pre>
    </>
  )
}
