import { visible } from './text.ts'

/** A text of an agent: a text node, isolated from the direction of what is around it. */
export const Text = ({ children }: { children: string }) => (
  <bdi dir="auto" className="text">
    {visible(children)}
  </bdi>
)
