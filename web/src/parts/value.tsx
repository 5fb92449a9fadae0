/** Values of records. They come from agents, so they are text nodes only: no HTML, no Markdown, no links made of them. */
import { useState } from 'react'
import type { Json } from '../api/shapes.ts'
import { words } from '../words.ts'
import { Button } from './button.tsx'
import { CELL_CHARS, Chip, cut, dateOf, LongDay, Text, Time, toneOf, visible, whole } from './text.tsx'

type Props = {
  value: Json | undefined
  /** Characters that are shown; the rest is counted. */
  most?: number
  /** The value is one of a few. */
  isState?: boolean
  format?: string | undefined
}

/** A value in a line. */
export function Value({ value, most = CELL_CHARS, isState = false, format }: Props) {
  if (value === null || value === undefined || value === '')
    return <span className="empty-word">{words.empty}</span>
  if (typeof value === 'number') return <span className="number">{numberOf(value)}</span>
  if (typeof value === 'boolean') return <span>{value ? words.yes : words.no}</span>
  if (typeof value === 'string') {
    if (isState) return <Chip tone={toneOf(value)}>{cut(value, DIFF_STATE).text}</Chip>
    const date = dateOf(value, format)
    if (date) return <Time at={date} isDay={value.length === 10} />
    const { text, more } = cut(value, most)
    return (
      <>
        <Text>{text}</Text>
        {more > 0 && <span className="more"> … +{whole.format(more)}</span>}
      </>
    )
  }
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object') && value.length <= 12)
    return value.length === 0 ? (
      <span className="empty-word">{words.empty}</span>
    ) : (
      <span className="items">
        {value.map((item, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items of a list have no other name
          <Chip key={at}>{cut(String(item), DIFF_STATE).text}</Chip>
        ))}
      </span>
    )
  const { text, more } = cut(JSON.stringify(value), most)
  return (
    <code>
      {visible(text)}
      {more > 0 && <span className="more"> … +{whole.format(more)}</span>}
    </code>
  )
}

const DIFF_STATE = 60
const LINES = 20

const numberOf = (value: number) =>
  Number.isInteger(value) && Math.abs(value) < 10_000 ? String(value) : whole.format(value)

/** A whole value on the page of a record: 20 lines, then all of it in a box of its own. */
export function LongValue(props: Props) {
  const { value } = props
  const day = typeof value === 'string' && value.length === 10 ? dateOf(value, props.format) : undefined
  const [isWhole, setWhole] = useState(false)
  const isText = typeof value === 'string' && dateOf(value, props.format) === undefined && !props.isState
  const text = isText
    ? value
    : typeof value === 'object' && value !== null
      ? JSON.stringify(value, null, 2)
      : ''
  const isSmall = text.length <= CELL_CHARS && text.split('\n').length <= LINES
  const isList = Array.isArray(value) && value.length <= 12 && value.every((item) => typeof item !== 'object')
  if (day !== undefined && !props.isState) return <LongDay day={day} />
  if ((!isText && text === '') || value === '' || isList) return <Value {...props} />
  if (isSmall || isWhole)
    return (
      <pre className={`long ${isText ? '' : 'code'} ${isSmall ? '' : 'scroll'}`}>{<Text>{text}</Text>}</pre>
    )
  const first = cut(text.split('\n').slice(0, LINES).join('\n'), CELL_CHARS)
  return (
    <>
      <pre className={`long ${isText ? '' : 'code'}`}>
        <Text>{first.text}</Text> …
      </pre>
      <Button className="quiet" label={words.showAll(text.length)} onClick={() => setWhole(true)} />
    </>
  )
}
