/** What differs between two versions of a text, line by line. */
import { CardItem } from '../../parts/card.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { visible } from '../../parts/text.ts'
import { words } from '../../words.ts'
import { useDiff } from './load.ts'

type Props = { base: string; type: string; path: string; from: number; to: number }

export function LineDiff({ base, type, path, from, to }: Props) {
  const diff = useDiff(base, type, path, from, to)
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
