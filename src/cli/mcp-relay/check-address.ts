import { type Answer, call, get } from '../command/client.ts'
import { Failure } from '../command/failure.ts'
import { type Settings, serverUrl, tokenFor } from '../command/settings.ts'
import { type AddressOptions, mcpPath, restrictionsOf } from './address-path.ts'

const PATIENCE_MS = 5000
/** The server says that the address is wrong. After another failure, the address may still be right. */
const WRONG = ['NOT_FOUND', 'VALIDATION_ERROR']

/**
 * Asks the server for the tools of the address, so that a misspelt base, endpoint, type or tool is found before a
 * client is set up. Returns what the server says of it, or why it could not be checked.
 * @throws Failure if the address does not exist
 */
export async function checkAddress(settings: Settings, scope: AddressOptions): Promise<readonly string[]> {
  if (scope.base === undefined) return []
  try {
    const { body } = await toolsOf(scope.base, settings, scope, PATIENCE_MS)
    return (body as { meta?: { warnings?: string[] } }).meta?.warnings ?? []
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { code, message } = error.body.error
    if (!WRONG.includes(code))
      return [`Not checked whether ${serverUrl(settings)}${mcpPath(scope)} exists: ${message}`]
    throw new Failure(error.body, { advice: adviceOn(error, scope), cause: error })
  }
}

/** Asks the server for the tools of an address. */
export function toolsOf(
  base: string,
  settings: Settings,
  scope: AddressOptions,
  patienceMs?: number,
): Promise<Answer> {
  const query = restrictionsOf(scope)
  if (scope.endpoint !== undefined) query.set('endpoint', scope.endpoint)
  const url = serverUrl(settings)
  const request = get(`/${encodeURIComponent(base)}/mcp/tools`, query)
  return call(url, tokenFor(url, settings), { ...request, ...(patienceMs !== undefined && { patienceMs }) })
}

/** The command that lists what exists. */
function adviceOn({ body }: Failure, { base, endpoint }: AddressOptions): string {
  const names = body.error.details?.map(({ path = '' }) => path).join(' ') ?? ''
  const isOfEndpoint = endpoint !== undefined && /endpoint/.test(names + body.error.message)
  if (isOfEndpoint) return `"plinth endpoint list --base ${base}" shows the endpoints.`
  if (body.error.code === 'NOT_FOUND') return '"plinth base list" shows the bases.'
  return 'Nothing was printed. Correct the option and run the command again.'
}
