import { createInterface } from 'node:readline/promises'
import { Failure } from './failure.ts'

/**
 * Asks on the terminal. Only "y" or "yes" is a yes.
 * @throws Failure otherwise: nothing was changed
 */
export async function confirmed(question: string): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  const answer = await Promise.race([lines.question(`${question} [y/N] `), ended])
  lines.close()
  if (/^y(es)?$/i.test(answer.trim())) return
  throw new Failure({ error: { code: 'CANCELLED', message: 'Nothing was changed.' } })
}
