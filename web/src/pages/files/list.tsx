/** Folders and files, or what was found, with the words around it. */
import { useSearch } from 'wouter'
import { changed, to } from '../../addresses.ts'
import { Icon } from '../../parts/button.tsx'
import { Table } from '../../parts/card.tsx'
import { cut, Meta, Text, Time } from '../../parts/text.tsx'
import { bytes, words } from '../../words.ts'
import type { Entry, File } from './load.ts'

type Props = { base: string; type: string; rows: readonly Entry[]; selected: string | undefined }

const isFolder = (entry: Entry): entry is Extract<Entry, { kind: 'folder' }> => entry.kind === 'folder'
const SNIPPET_CHARS = 160

export function List({ base, type, rows, selected }: Props) {
  const search = useSearch()
  const heads = words.files.heads
  const of = (cell: (file: File) => React.ReactNode) => (entry: Entry) =>
    isFolder(entry) ? null : cell(entry)
  return (
    <Table
      label={words.nav.files}
      rows={rows}
      keyOf={({ path }) => path}
      addressOf={(entry) =>
        isFolder(entry)
          ? to.files(base, type, { in: entry.path })
          : to.files(base, type) + changed(search, { file: entry.path, v: '' })
      }
      selected={selected}
      columns={[
        [
          heads.name,
          (entry) => (
            <span className="who">
              <Icon name={isFolder(entry) ? 'folder' : 'files'} />
              <span>
                <Text>{isFolder(entry) || !entry._snippets ? nameOf(entry.path) : entry.path}</Text>
                {!isFolder(entry) && entry._snippets?.[0] && (
                  <Meta>{cut(entry._snippets[0].text.replaceAll(/\s+/g, ' '), SNIPPET_CHARS).text}</Meta>
                )}
              </span>
            </span>
          ),
        ],
        [heads.size, of(({ size }) => bytes(size)), 'number-cell wide-only'],
        [heads.versions, of(({ version }) => words.record.short(version)), 'number-cell wide-only kind-cell'],
        [heads.changed, of(({ updated_at: at }) => <Time at={at} as="span" />), 'number-cell'],
      ]}
    />
  )
}

/** The last part of a path; of a folder with its slash. */
export const nameOf = (path: string): string => /[^/]+\/?$/.exec(path)?.[0] ?? path
