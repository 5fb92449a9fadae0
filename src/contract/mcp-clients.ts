/** The settings of MCP clients: the file of each, and how it refers to a token that stays outside of it. */

/** A server as a client names it. */
export type McpServer = { name: string; url: string }
type Client = { file: string; text: (server: McpServer) => string }

const json = (value: object) => JSON.stringify(value, null, 2)
const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` })

export const MCP_CLIENTS = {
  'claude-code': {
    file: '.mcp.json in the project, or run "claude mcp add-json" with one entry of it',
    text: ({ name, url }) =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in.
      json({ mcpServers: { [name]: { type: 'http', url, headers: bearer('${PLINTH_TOKEN}') } } }),
  },
  cursor: {
    file: '.cursor/mcp.json in the project, or ~/.cursor/mcp.json',
    text: ({ name, url }) =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in.
      json({ mcpServers: { [name]: { url, headers: bearer('${env:PLINTH_TOKEN}') } } }),
  },
  vscode: {
    file: '.vscode/mcp.json in the workspace',
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
    // A JSON string with these characters is also a TOML string.
    text: ({ name, url }) =>
      `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "PLINTH_TOKEN"`,
  },
} as const satisfies Record<string, Client>

/** The name of a server, so that one file can hold several bases. It has characters that all clients accept. */
export const mcpServerName = (base: string | undefined, endpoint: string | undefined): string =>
  ['plinth', base, endpoint]
    .filter((part) => part !== undefined)
    .join('-')
    .replace(/[^A-Za-z0-9_-]/g, '-')
