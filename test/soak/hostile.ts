/** A process that sends requests of hostile size and shape, one after the other on each of its lanes, until it is ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { hostileSizes } from '../properties/hostile-sizes.ts'

const {
  SOAK_URL: url = '',
  SOAK_TOKEN: token = '',
  SOAK_LANES = '3',
  SOAK_SEED = '1',
  SOAK_PAUSE = '0',
} = process.env
const statuses = new Map<string, number>()
const count = (status: string) => statuses.set(status, (statuses.get(status) ?? 0) + 1)

async function lane(index: number): Promise<never> {
  for (let round = 0; ; round++) {
    const seed = Number(SOAK_SEED) + index * 1000 + round
    for (const { kind, method, path, body, accept } of fc.sample(hostileSizes, { numRuns: 20, seed })) {
      try {
        const response = await fetch(url + path, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            accept: accept ?? 'application/json, text/event-stream',
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body }),
        })
        const text = await response.text()
        count(String(response.status))
        if (response.status >= 500)
          process.stderr.write(
            `${response.status} to ${kind} ${method} ${path.slice(0, 80)}: ${text.slice(0, 200)}\n`,
          )
      } catch (error) {
        count(`${kind}: ${(error as Error).message}`)
      }
      await sleep(Number(SOAK_PAUSE))
    }
  }
}

process.on('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(Object.fromEntries(statuses))}\n`)
  process.exit(0)
})
await Promise.all(Array.from({ length: Number(SOAK_LANES) }, (_, i) => lane(i)))
