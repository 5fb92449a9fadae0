import { globSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const text = (more: object = {}) => ({ type: 'string', ...more })
const strict = (required: readonly string[], properties: object) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
})
const list = (items: object) => ({ type: 'array', minItems: 1, items })

const input = {
  description: text(),
  isRequired: { type: 'boolean' },
  isSecret: { type: 'boolean' },
  format: { enum: ['string', 'number', 'boolean', 'filepath'] },
  value: text(),
  default: text(),
  placeholder: text(),
  choices: list(text()),
}
const variables = { type: 'object', additionalProperties: strict([], input) }
const keyValue = strict(['name'], { name: text(), ...input, variables })

/** The used part of the registry schema of 2025-12-11, without additional properties. */
const SERVER = strict(['$schema', 'name', 'description', 'version', 'remotes'], {
  $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
  name: text({ pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$', minLength: 3, maxLength: 200 }),
  title: text({ minLength: 1, maxLength: 100 }),
  description: text({ minLength: 1, maxLength: 100 }),
  version: text({ pattern: '^\\d+\\.\\d+\\.\\d+(-[\\w.]+)?$', maxLength: 255 }),
  remotes: list(
    strict(['type', 'url'], {
      type: { const: 'streamable-http' },
      url: text(),
      variables,
      headers: list(keyValue),
    }),
  ),
})

test('server.json is valid for the MCP registry and has the package version', () => {
  const [server, manifest] = [read('server.json'), read('package.json')]
  const validate = new Ajv({ allErrors: true }).compile(SERVER)
  validate(server)
  expect(validate.errors).toBeNull()
  expect(server).toMatchObject({ name: manifest.mcpName, version: manifest.version })
})

/** The file that `$schema` names, where somebody has it: it is the registry's, and not in this repository. */
const WHOLE = process.env['PLINTH_SERVER_SCHEMA']
test.skipIf(!WHOLE)(
  'server.json is valid by the whole schema of the registry, and a wrong one is not',
  () => {
    const [server, schema] = [read('server.json'), read(WHOLE ?? '')]
    expect(schema.$id).toBe(server.$schema)
    const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema)
    expect([isValid(server), isValid.errors]).toEqual([true, null])
    for (const wrong of [
      { description: 'x'.repeat(101) },
      { name: 'plinth' },
      { remotes: [{ type: 'http' }] },
    ])
      expect([wrong, isValid({ ...server, ...wrong })]).toEqual([wrong, false])
  },
)

test('an install of a checkout without development packages has what makes the database client, and all that it runs on', () => {
  const { dependencies, devDependencies } = read('package.json')
  expect(dependencies).toHaveProperty(['@prisma/client'], devDependencies.prisma)
  const { packages } = read('package-lock.json')
  const needed = [
    ...Object.keys(dependencies),
    ...Object.keys(read('packages/checkout/package.json').dependencies),
  ]
  const left = needed.filter((name) => {
    const { dev, devOptional } = packages[`node_modules/${name}`]
    return dev || devOptional
  })
  expect(left).toEqual([])
  const imports = globSync('src/**/*.ts').flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/^(?:im|ex)port (?!type\b)[^'"]*?from '([^.'][^']*)'/gm)].map(
      ([, name = '']) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'),
    ),
  )
  const undeclared = imports.filter((name) => !name.startsWith('node:') && !needed.includes(name))
  expect([...new Set(undeclared)]).toEqual([])
})

test('neither server.json nor mcp.json names a package: anybody can publish under a free name', () => {
  expect(read('server.json')).not.toHaveProperty('packages')
  expect(JSON.stringify(read('mcp.json'))).not.toMatch(/npx|npm|bunx|pnpm|yarn|uvx/)
})

test('server.json marks secrets and declares every template variable', () => {
  const { remotes } = read('server.json')
  for (const { url, variables, headers } of remotes) {
    expect(Object.keys(variables)).toEqual([...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    for (const { value, variables: own } of headers) {
      expect(Object.keys(own)).toEqual([...value.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      expect(own.token.isSecret).toBe(true)
    }
  }
})

test('mcp.json has the same URL in each client format, and no token', () => {
  const { mcpServers, servers, inputs } = read('mcp.json')
  const address = 'http://127.0.0.1:4000/mcp'
  expect(mcpServers.plinth).toEqual({ command: 'plinth', args: ['mcp'] })
  expect([mcpServers['plinth-http'].url, servers.plinth.url]).toEqual([address, address])
  expect(servers.plinth.headers.Authorization).toBe(`Bearer \${input:${inputs[0].id}}`)
  expect(JSON.stringify([mcpServers, servers])).not.toMatch(/plt_/)
})
