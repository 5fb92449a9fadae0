import { visible } from './text.ts'

type Props = { children: string; in?: 'code' | 'h1' | 'h2' | 'p' | 'span' | 'strong'; className?: string }

/** A text of an agent: a text node, isolated from the direction of what is around it, in an element of its own. */
export function Text({ children, in: Around, className }: Props) {
  const text = (
    <bdi dir="auto" className="text">
      {visible(children)}
    </bdi>
  )
  return Around ? <Around className={className}>{text}</Around> : text
}
