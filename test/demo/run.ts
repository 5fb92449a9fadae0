/** `npm run demo`: a base named "world" with the countries in it, to look around in. */
import ora from 'ora'
import { type Found, findServer } from './find-server.ts'
import { BASE, fillWorld, type Outcome, toolNames } from './world.ts'

const BAR = 30

async function main(): Promise<void> {
  const server = await findServer(process.env)
  try {
    const outcome = await withProgress((onDone) => fillWorld(server, onDone))
    process.stdout.write(summary(outcome, server, await toolNames(server)))
  } finally {
    await server.close()
  }
}

/** A moving bar where somebody watches, nothing elsewhere. */
async function withProgress<T>(
  work: (onDone: (done: number, all: number) => void) => Promise<T>,
): Promise<T> {
  // A terminal without a width is none to draw in.
  if (!process.stderr.isTTY || !process.stderr.columns) return work(() => {})
  const spinner = ora('Defining the record type').start()
  try {
    return await work((done, all) => {
      const filled = Math.round((done / all) * BAR)
      spinner.text = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${done} of ${all} countries`
    })
  } finally {
    spinner.stop()
  }
}

function summary({ created, updated, unchanged }: Outcome, server: Found, tools: readonly string[]): string {
  const { shownUrl: url, shownToken, own } = server
  const oceania = `{"field":"data.region","op":"eq","value":"Oceania"}`
  return `Base "${BASE}": ${created} countries created, ${updated} updated, ${unchanged} unchanged.

What to try next${own ? ', after npm start:' : ':'}

  curl -s ${url}/v1/${BASE}/records/country/JPN -H "Authorization: Bearer ${shownToken}"
  npx plinth record list country --base ${BASE} --limit 5
  npx plinth record list country --base ${BASE} --filter '${oceania}'

  API reference  ${url}/docs
  GraphiQL       ${url}/graphql/${BASE}
  MCP            ${url}/mcp/${BASE}
                 ${tools.join(', ')}
`
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
