/** Entry point of the relay in a desktop bundle. All configuration comes from the environment. */
import { describe, misused, toFailure } from '../command/failure.ts'
import { readSettings } from '../command/settings.ts'
import { mcpPath } from './address-path.ts'
import { relayStdio } from './stdio.ts'

/** Some clients leave the placeholder in place of an empty setting. */
const given = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name, value]) => name.startsWith('PLINTH_') && !value?.startsWith('${'),
  ),
)

async function run(): Promise<void> {
  const { namedUrl: url, namedToken: token, base } = readSettings({}, given)
  if (url === undefined)
    throw misused('The server address is missing. Set it in the settings of the extension.')
  const endpoint = given['PLINTH_ENDPOINT'] || undefined
  const path = mcpPath({ base, endpoint, isReadOnly: given['PLINTH_READ_ONLY'] === 'true' })
  const log = (text: string) => process.stderr.write(`plinth: ${text}\n`)
  await relayStdio({ find: async () => ({ url, token }), path, log })
}

run().then(
  () => process.exit(0),
  (error: unknown) => {
    const failure = toFailure(error)
    process.stderr.write(describe(failure))
    process.exit(failure.exitCode)
  },
)
