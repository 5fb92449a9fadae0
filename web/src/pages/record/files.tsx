/** The files of the record. One opens at the side. */
import { Empty } from '../../parts/failure.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { bytes, words } from '../../words.ts'
import type { File } from './load.ts'

const KINDS: readonly [RegExp, string][] = [
  [/^application\/pdf$/, 'PDF'],
  [/^image\//, 'Image'],
  [/^text\//, 'Text'],
  [/^audio\//, 'Audio'],
  [/^video\//, 'Video'],
]
const kindOf = (contentType: string) =>
  KINDS.find(([pattern]) => pattern.test(contentType))?.[1] ?? contentType

type Props = { files: readonly File[]; isAll: boolean; onOpen: (name: string) => void }

export function Files({ files, isAll, onOpen }: Props) {
  if (files.length === 0) return isAll ? <Empty title={words.record.noFiles} /> : null
  return (
    <section className="section" aria-label={words.record.tabs.files}>
      <h2>
        {words.record.tabs.files} <span className="note">{files.length}</span>
      </h2>
      <ul className="tiles">
        {files.map(({ id, filename, content_type: type, size, created_at: at }) => (
          <li key={id}>
            <button type="button" className="file" onClick={() => onOpen(filename)}>
              <Icon name="files" />
              <span>
                <Text>{filename}</Text>
                <span className="note">
                  <Text>{kindOf(type)}</Text> · {bytes(size)} · <Time at={at} />
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
