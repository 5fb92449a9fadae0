/** The view of a plan or a proposal, and of what became of it. */
import { useState } from 'react'
import { Done } from './done.tsx'
import { type Shown, show } from './frame.tsx'
import type { Result } from './host.ts'
import { Plan, planIn } from './plan.tsx'
import { words } from './words.ts'

function Decision({ result, args }: Shown) {
  const [now, setNow] = useState<{ result: Result; said?: string }>({ result })
  const isOpen = 'plan' in now.result.body
  if (now.said === undefined && isOpen)
    return (
      <Plan
        key={now.result.meta['plinth/decision'] as string}
        result={now.result}
        onDone={(next, choice) =>
          setNow(planIn(next) ? { result: next } : { result: next, said: words.decide.outcome[choice] })
        }
      />
    )
  return <Done result={now.result} said={now.said} base={args['base_id']} />
}

show(Decision)
