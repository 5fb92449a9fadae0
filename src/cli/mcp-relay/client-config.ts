import { fileURLToPath } from 'node:url'
import { MCP_CLIENTS, type McpServer, mcpServerName } from '../../contract/mcp-clients.ts'
import { unknownName } from '../../contract/suggest.ts'
import { own } from '../../foundation/own.ts'
import { misused } from '../command/failure.ts'
import { note } from '../command/print.ts'
import { type Settings, serverUrl, tokenFor } from '../command/settings.ts'
import { type AddressOptions, mcpPath } from './address-path.ts'
import { checkAddress } from './check-address.ts'

/** A server entry in a client's configuration. The token is only referenced, never included. */
type Entry = McpServer & { stdio: Stdio }
type Stdio = { command: string; args: readonly string[]; env: Record<string, string> }
type Client = {
  /** The file that the configuration belongs in. */
  file: string
  /** How to supply the token. */
  token: string
  /** The file that the skill belongs in; null if it is uploaded. */
  skill: string | null
  text: (entry: Entry) => string
}

const BIN = fileURLToPath(new URL('../../../bin/plinth.mjs', import.meta.url))
const PASTE = 'paste a token here'
/** Where most clients look for skills. */
const SHARED = '.agents/skills/plinth/SKILL.md'
const FROM_ENVIRONMENT =
  'Set PLINTH_TOKEN in the environment of the client ("plinth token create" makes a token).'

/** Each client, with how it gets the token. */
const CLIENTS: Readonly<Record<string, Client>> = {
  'claude-code': {
    ...MCP_CLIENTS['claude-code'],
    token: FROM_ENVIRONMENT,
    skill: '.claude/skills/plinth/SKILL.md',
  },
  'claude-desktop': {
    file: 'claude_desktop_config.json (Settings, Developer, Edit Config)',
    token:
      'Put a token into PLINTH_TOKEN of "env" ("plinth token create" makes one). Without it, the admin token of the data directory is used.',
    skill: null,
    text: ({ name, stdio }) => JSON.stringify({ mcpServers: { [name]: stdio } }, null, 2),
  },
  cursor: { ...MCP_CLIENTS.cursor, token: FROM_ENVIRONMENT, skill: SHARED },
  vscode: {
    ...MCP_CLIENTS.vscode,
    token: 'VS Code asks for the token once and stores it ("plinth token create" makes one).',
    skill: SHARED,
  },
  codex: { ...MCP_CLIENTS.codex, token: FROM_ENVIRONMENT, skill: SHARED },
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
  const client = own(CLIENTS, clientName)
  if (!client) {
    const details = { path: 'client', code: 'enum', ...unknownName(clientName, CLIENT_NAMES) }
    throw misused(`--client must be one of ${CLIENT_NAMES.join(', ')}.`, [details])
  }
  const server = serverUrl(settings)
  const url = `${server}${mcpPath(scope)}`
  const said = await checkAddress(settings, scope)
  const entry = { name: mcpServerName(scope.base, scope.endpoint), url, stdio: stdioOf(settings, scope) }
  process.stdout.write(`${client.text(entry)}\n`)
  note(`Add this to ${client.file}.\n${client.token}\n`)
  // The skill is about tools that an endpoint does not have.
  if (scope.endpoint === undefined) note(`${skillNote(client.skill, server)}\n`)
  for (const each of said) note(`${each}\n`)
}

/** How the client gets the skill, which spares an agent calls. */
const skillNote = (file: string | null, server: string): string =>
  file === null
    ? `The skill that tells an agent how to work with Plinth is at ${server}/skill (Settings, Capabilities, Skills).`
    : `For the skill that tells an agent how to work with Plinth: curl -fsS --create-dirs -o ${file} ${server}/skill`

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
