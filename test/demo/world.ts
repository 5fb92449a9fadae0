import { setTimeout as sleep } from 'node:timers/promises'
import { COUNTRY, type Country, countries, SOURCE, TYPE } from './country.ts'

export const BASE = 'world'
const CONCURRENCY = 8

/** A server, and who asks it. */
export type Server = { url: string; token: string }
export type Outcome = { created: number; updated: number; unchanged: number }

/** Fills the base. Run again, it changes nothing. `onDone` hears of every country that is in. */
export async function fillWorld(
  server: Server,
  onDone: (done: number, all: number) => void,
): Promise<Outcome> {
  await call(server, 'PUT', `/v1/bases/${BASE}`, { name: 'World', description: 'The countries of the world' })
  await call(server, 'PUT', `/v1/${BASE}/record-types/${TYPE}`, COUNTRY)
  const outcome: Outcome = { created: 0, updated: 0, unchanged: 0 }
  const waiting = [...countries]
  const work = async () => {
    for (let country = waiting.shift(); country; country = waiting.shift()) {
      outcome[await putCountry(server, country)]++
      onDone(outcome.created + outcome.updated + outcome.unchanged, countries.length)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return outcome
}

async function putCountry(server: Server, country: Country): Promise<keyof Outcome> {
  const { cca3 } = country
  const { operation } = await call<{ operation: keyof Outcome }>(
    server,
    'PUT',
    `/v1/${BASE}/records/${TYPE}/${cca3}`,
    { data: country, external_id: cca3, external_source: SOURCE },
  )
  return operation
}

/** The names of the tools that MCP clients see. */
export async function toolNames(server: Server): Promise<string[]> {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const { result } = await call<{ result: { tools: { name: string }[] } }>(
    server,
    'POST',
    `/mcp/${BASE}`,
    request,
  )
  return result.tools.map(({ name }) => name)
}

/** @throws with the server's own words; a rate limit is waited for */
async function call<Answer>(
  { url, token }: Server,
  method: string,
  path: string,
  body: object,
): Promise<Answer> {
  for (;;) {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(body),
    })
    const answer = await response.text()
    if (response.ok) return JSON.parse(answer) as Answer
    if (response.status !== 429)
      throw new Error(`${method} ${path} was answered ${response.status}: ${answer}`)
    await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000)
  }
}
