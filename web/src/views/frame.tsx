/** What all views share: waiting, failures, buttons, and the frame that shows the result of a call. */
import { render } from 'preact'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { Text } from '../parts/text.tsx'
import './views.css'
import { type Body, connect, type Result } from './host.ts'
import { words } from './words.ts'

export type Shown = { result: Result; args: Body }

/** Shows a view for each result of its call. */
export function show(View: (shown: Shown) => ReactNode): void {
  const root = document.getElementById('view')
  if (!root) return
  let calls = 0
  const draw = (content: ReactNode) => render(content as never, root)
  draw(<p className="note">{words.waiting}</p>)
  void connect({
    onResult: (result, args) =>
      draw(
        result.error === undefined ? (
          <View key={++calls} result={result} args={args} />
        ) : (
          <Failure text={result.error} />
        ),
      ),
    onCancelled: () => draw(<Failure text={words.failed} />),
  }).catch(() => draw(<p className="note">{words.noHost}</p>))
}

export const Failure = ({ text }: { text: string }) => (
  <p role="alert" className="failure">
    <Text>{text}</Text>
  </p>
)

/** Work that a button starts: while it runs nothing else is pressed, and its failure is said. */
export function useWork() {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const run = (work: () => Promise<string | undefined>) => {
    setBusy(true)
    setFailure(undefined)
    void work()
      .catch((thrown: unknown) => (thrown as Error).message || words.failed)
      .then((failed) => {
        setFailure(failed)
        setBusy(false)
      })
  }
  return { isBusy, failure, run }
}
