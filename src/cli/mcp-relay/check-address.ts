import { call } from '../command/client.ts'
import { Failure } from '../command/failure.ts'
import { type Settings, serverUrl, tokenFor } from '../command/settings.ts'
import type { AddressOptions } from './address-path.ts'

const PATIENCE_MS = 5000
/** The server says that the address is wrong. After another failure, the address may still be right. */
const WRONG = ['NOT_FOUND', 'VALIDATION_ERROR']

/**
 * Asks the server for the tools of the address, so that a misspelt base, endpoint, type or tool is found before a
 * client is set up. Returns why the address could not be checked, if so.
 * @throws Failure if the address does not exist
 */
export async function checkAddress(settings: Settings, scope: AddressOptions): Promise<string | undefined> {
  const { base, endpoint, isReadOnly, types, tools, profile } = scope
  if (base === undefined) return undefined
  const options = { endpoint, types, tools, profile, readonly: isReadOnly ? '1' : undefined }
  const given = Object.entries(options).filter((each): each is [string, string] => each[1] !== undefined)
  const url = serverUrl(settings)
  try {
    await call(url, tokenFor(url, settings), {
      method: 'GET',
      path: `/${encodeURIComponent(base)}/mcp/tools`,
      query: new URLSearchParams(given),
      headers: {},
      body: undefined,
      streams: false,
      patienceMs: PATIENCE_MS,
    })
    return undefined
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { code, message } = error.body.error
    if (!WRONG.includes(code)) return message
    throw new Failure(error.body, { advice: adviceOn(error, scope), cause: error })
  }
}

/** The command that lists what exists. */
function adviceOn({ body }: Failure, { base, endpoint }: AddressOptions): string {
  const names = body.error.details?.map(({ path = '' }) => path).join(' ') ?? ''
  const isOfEndpoint = endpoint !== undefined && /endpoint/.test(names + body.error.message)
  if (isOfEndpoint) return `"plinth endpoint list --base ${base}" shows the endpoints.`
  if (body.error.code === 'NOT_FOUND') return '"plinth base list" shows the bases.'
  return 'Nothing was printed. Correct the option and run the command again.'
}
