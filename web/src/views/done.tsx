/** What was done, and its undo. */
import { type ReactNode, useState } from 'react'
import type { Json } from '../api/shapes.ts'
import { Button } from '../parts/button.tsx'
import { Failure, useWork } from './frame.tsx'
import { type Body, callTool, placeOf, type Result } from './host.ts'
import { Elsewhere, Plan, planIn } from './plan.tsx'
import { words } from './words.ts'

type Props = { result: Result; said?: string | undefined; base: Json | undefined }

export function Done({ result, said, base }: Props) {
  const { request_id: id } = (result.meta['plinth/view'] ?? {}) as { request_id?: string }
  const [outcome, setOutcome] = useState<string>()
  const { tools = {}, url } = placeOf(result)
  const { undo } = tools
  const done = (
    <>
      <Said>{outcome ?? said}</Said>
      <Facts body={result.body} />
      {typeof result.body['change_set'] === 'string' && <Elsewhere url={url} text={words.decide.proposed} />}
    </>
  )
  return (
    <section>
      {id !== undefined && undo !== undefined && outcome === undefined ? (
        <Undo tool={undo} of={{ request_id: id }} base={base} onDone={setOutcome}>
          {done}
        </Undo>
      ) : (
        done
      )}
    </section>
  )
}

export const Said = ({ children }: { children: string | undefined }) =>
  children === undefined ? null : (
    <p role="status" className="done">
      {children}
    </p>
  )

/** Counts of an answer: what it wrote, by operation. */
function Facts({ body }: { body: Body }) {
  const rows = (Array.isArray(body['data']) ? body['data'] : []) as Body[]
  const counts = rows.flatMap(({ operation, count }) =>
    typeof operation === 'string' && typeof count === 'number' ? [`${operation} ${count}`] : [],
  )
  return counts.length === 0 ? null : <p>{counts.join(', ')}</p>
}

type UndoProps = {
  tool: string
  of: object
  base: Json | undefined
  onDone: (said: string) => void
  children?: ReactNode
}

/** Plans an undo, shows the plan in place of what was done, and takes it back when the person accepts. */
export function Undo({ tool, of, base, onDone, children }: UndoProps) {
  const { isBusy, failure, run } = useWork()
  const [planned, setPlanned] = useState<Result>()
  const plan = () =>
    run(async () => {
      const result = await callTool(tool, { ...of, base_id: base })
      if (result.error === undefined && planIn(result)) setPlanned(result)
      return result.error ?? (planIn(result) ? undefined : words.changes.none)
    })
  if (planned) return <Plan result={planned} onDone={(_, said) => onDone(said)} />
  return (
    <>
      {children}
      {failure !== undefined && <Failure text={failure} />}
      <Button label={words.changes.undo} disabled={isBusy} onClick={plan} />
    </>
  )
}
