/** The view of a plan or a proposal, and of what became of it. */
import { useState } from 'react'
import { Done } from './done.tsx'
import { type Shown, show } from './frame.tsx'
import type { Result } from './host.ts'
import { Plan } from './plan.tsx'

function Decision({ result, args }: Shown) {
  const [decided, setDecided] = useState<{ result: Result; said: string }>()
  if (!decided && 'plan' in result.body)
    return <Plan result={result} onDone={(next, said) => setDecided({ result: next, said })} />
  return <Done result={decided?.result ?? result} said={decided?.said} base={args['base_id']} />
}

show(Decision)
