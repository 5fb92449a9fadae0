// @module-tag frameworks
/** Linters of OpenAPI accept both descriptions, and generators make clients of them that are strict TypeScript. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { NASTY_SCHEMAS } from '../support/nasty-schemas.ts'
import { openWorld } from '../support/world.ts'

const BINARIES = join(import.meta.dirname, 'node_modules/.bin')
const GENERATED = join(import.meta.dirname, 'node_modules/.generated')
const REDOCLY = join(import.meta.dirname, '../../redocly.yaml')

let directory: string
/** The description of all bases, and that of a base whose types are hard to describe. */
const DESCRIPTIONS = ['all', 'nasty']

beforeAll(async () => {
  await mkdir(GENERATED, { recursive: true })
  directory = await mkdtemp(join(GENERATED, 'openapi-'))
  const world = await openWorld()
  try {
    succeed(await world.call('PUT', '/v1/bases/nasty', {}), 201)
    // Spectral and openapi-typescript call methods that the names of its properties hide.
    const { objects: _, ...schemas } = NASTY_SCHEMAS
    for (const [id, json_schema] of Object.entries(schemas))
      succeed(await world.call('PUT', `/v1/nasty/record-types/${id}`, { json_schema }), 201)
    const paths = ['/openapi.json', '/v1/nasty/openapi.json']
    for (const [n, path] of paths.entries())
      await writeFile(join(directory, `${DESCRIPTIONS[n]}.json`), (await world.call('GET', path)).text)
  } finally {
    await world.close()
  }
  await writeFile(join(directory, '.spectral.yaml'), 'extends: ["spectral:oas"]\n')
  await cp(REDOCLY, join(directory, 'redocly.yaml'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Runs a tool of npm. Returns what it prints; fails if it fails. */
async function use(tool: string, ...args: string[]): Promise<string> {
  const path = `${process.execPath.replace(/\/[^/]+$/, '')}:${process.env['PATH']}`
  const options = { cwd: directory, maxBuffer: 2 ** 24, env: { ...process.env, PATH: path, CI: '1' } }
  return (await promisify(execFile)(join(BINARIES, tool), args, options)).stdout
}

test.each(DESCRIPTIONS)('Spectral and Redocly have no warning for %s', async (name) => {
  const args = ['lint', `${name}.json`]
  expect(await use('spectral', ...args, '--fail-severity', 'hint')).toContain('No results')
  const { totals } = JSON.parse(await use('redocly', ...args, '--format', 'json'))
  expect(totals).toMatchObject({ errors: 0, warnings: 0 })
})

test.each(DESCRIPTIONS)(
  'openapi-typescript, orval and openapi-ts make strict clients of %s',
  async (name) => {
    const description = `${name}.json`
    await use('openapi-typescript', description, '-o', `${name}/types.ts`)
    await use('orval', '--input', description, '--output', `${name}/orval.ts`, '--client', 'fetch')
    await use('openapi-ts', '-i', description, '-o', `${name}/hey`)
    const files = ['types.ts', 'orval.ts', 'hey/index.ts', 'hey/sdk.gen.ts']
    const program = ts.createProgram(
      files.map((file) => join(directory, name, file)),
      {
        strict: true,
        noEmit: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        module: ts.ModuleKind.ESNext,
        moduleResolution: ts.ModuleResolutionKind.Bundler,
        target: ts.ScriptTarget.ES2022,
        lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
        types: [],
      },
    )
    const faults = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    expect(faults.slice(0, 5)).toEqual([])
  },
)
