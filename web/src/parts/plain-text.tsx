import { visible } from './text.ts'

type Tag = 'code' | 'dt' | 'h1' | 'h2' | 'h3' | 'p' | 'q' | 'span' | 'strong'
type Props = { children: string; in?: Tag; className?: string }

/** A text of an agent: a text node, isolated from the direction of what is around it. With a class, in an element. */
export function Text({
  children,
  className,
  in: Around = className === undefined ? undefined : 'span',
}: Props) {
  const text = (
    <bdi dir="auto" className="text">
      {visible(children)}
    </bdi>
  )
  return Around ? <Around className={className}>{text}</Around> : text
}
