import { fileURLToPath } from 'node:url'
import { unknownName } from '../../contract/suggest.ts'
import { misused } from '../command/failure.ts'
import { note } from '../command/print.ts'
import { type Settings, serverUrl, tokenFor } from '../command/settings.ts'
import { type AddressOptions, mcpPath } from './address-path.ts'
import { checkAddress } from './check-address.ts'

/** A server entry in a client's configuration. The token is only referenced, never included. */
type Entry = { name: string; url: string; stdio: Stdio }
type Stdio = { command: string; args: readonly string[]; env: Record<string, string> }
type Client = {
  /** The file that the configuration belongs in. */
  file: string
  /** How to supply the token. */
  token: string
  text: (entry: Entry) => string
}

const BIN = fileURLToPath(new URL('../../../bin/plinth.mjs', import.meta.url))
const PASTE = 'paste a token here'
const json = (value: object) => JSON.stringify(value, null, 2)
const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` })
const FROM_ENVIRONMENT =
  'Set PLINTH_TOKEN in the environment of the client ("plinth token create" makes a token).'

/** Configuration format of each client, with its syntax for secrets. */
const CLIENTS: Readonly<Record<string, Client>> = {
  'claude-code': {
    file: '.mcp.json in the project, or run "claude mcp add-json" with one entry of it',
    token: FROM_ENVIRONMENT,
    text: ({ name, url }) =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in.
      json({ mcpServers: { [name]: { type: 'http', url, headers: bearer('${PLINTH_TOKEN}') } } }),
  },
  'claude-desktop': {
    file: 'claude_desktop_config.json (Settings, Developer, Edit Config)',
    token: `Replace "${PASTE}" by a token. Without one, the token of the data directory is used.`,
    text: ({ name, stdio }) => json({ mcpServers: { [name]: stdio } }),
  },
  cursor: {
    file: '.cursor/mcp.json in the project, or ~/.cursor/mcp.json',
    token: FROM_ENVIRONMENT,
    text: ({ name, url }) =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in.
      json({ mcpServers: { [name]: { url, headers: bearer('${env:PLINTH_TOKEN}') } } }),
  },
  vscode: {
    file: '.vscode/mcp.json in the workspace',
    token: 'VS Code asks for the token once and stores it ("plinth token create" makes one).',
    text: ({ name, url }) =>
      json({
        inputs: [
          { type: 'promptString', id: 'plinth-token', description: 'Plinth API token', password: true },
        ],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in.
        servers: { [name]: { type: 'http', url, headers: bearer('${input:plinth-token}') } },
      }),
  },
  codex: {
    file: '~/.codex/config.toml',
    token: FROM_ENVIRONMENT,
    // A JSON string with these characters is also a TOML string.
    text: ({ name, url }) =>
      `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "PLINTH_TOKEN"`,
  },
}

/** Names of the supported clients. */
export const CLIENT_NAMES = Object.keys(CLIENTS)

/**
 * Prints the configuration for a client, and on standard error where to put it.
 * @throws Failure if the server says that the address does not exist
 */
export async function mcpConfig(
  settings: Settings,
  scope: AddressOptions,
  clientName: string,
): Promise<void> {
  const client = Object.hasOwn(CLIENTS, clientName) ? CLIENTS[clientName] : undefined
  if (!client) {
    const details = { path: 'client', code: 'enum', ...unknownName(clientName, CLIENT_NAMES) }
    throw misused(`--client must be one of ${CLIENT_NAMES.join(', ')}.`, [details])
  }
  const url = `${serverUrl(settings)}${mcpPath(scope)}`
  const unchecked = await checkAddress(settings, scope)
  const entry = { name: entryName(scope), url, stdio: stdioOf(settings, scope) }
  process.stdout.write(`${client.text(entry)}\n`)
  note(`Add this to ${client.file}.\n${client.token}\n`)
  if (unchecked) note(`Not checked whether ${url} exists: ${unchecked}\n`)
}

/** Unique entry name, so that one file can hold several bases. Uses characters that all clients accept. */
const entryName = ({ base, endpoint }: AddressOptions) =>
  ['plinth', base, endpoint]
    .filter((part) => part !== undefined)
    .join('-')
    .replace(/[^A-Za-z0-9_-]/g, '-')

/** The stdio command with absolute paths, because clients use another directory and PATH than a terminal. */
function stdioOf(settings: Settings, scope: AddressOptions): Stdio {
  const { base, endpoint, isReadOnly, types, tools, profile } = scope
  const flags = Object.entries({ base, endpoint, types, tools, profile }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  )
  if (isReadOnly) flags.push('--read-only')
  const { namedUrl, dataDir } = settings
  // Omit a token that the relay can find by itself.
  const isKept =
    namedUrl === undefined || tokenFor(namedUrl, { ...settings, namedToken: undefined }) !== undefined
  return {
    command: process.execPath,
    args: [BIN, 'mcp', ...flags],
    env: {
      ...(namedUrl !== undefined && { PLINTH_URL: namedUrl }),
      ...(isKept ? { PLINTH_DATA_DIR: dataDir } : { PLINTH_TOKEN: PASTE }),
    },
  }
}
