/** Makes the bundle for desktop clients: the relay as plain JavaScript, for any Node they bring, and its manifest. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packExtension } from '@anthropic-ai/mcpb'
import ts from 'typescript'
import { type Operator, supportLink } from '../../src/http/privacy.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const SOURCES = at('../../src')
const ENTRY = 'cli/mcp-relay/bundle-entry.ts'
/** Rooms whose files the bundle may hold. */
const ROOMS = /^(cli|contract|foundation)\//

/** Writes the files of the bundle into a directory, which is emptied first. */
export async function buildBundle(directory: string, operator: Operator = {}): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  const server = join(directory, 'server')
  await mkdir(server, { recursive: true })
  await writeFile(join(directory, 'manifest.json'), await manifestOf(operator))
  await cp(at('icon.png'), join(directory, 'icon.png'))
  await cp(at('../../LICENSE'), join(directory, 'LICENSE'))
  await writeFile(join(server, 'package.json'), '{ "type": "module" }\n')
  const done = new Set<string>()
  for (let open = [ENTRY], name = open.pop(); name !== undefined; name = open.pop()) {
    if (done.has(name)) continue
    done.add(name)
    const script = translate(await readFile(join(SOURCES, name), 'utf8'), name)
    const target = join(server, name.replace(/ts$/, 'js'))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, script)
    open.push(...importsOf(script, dirname(name)))
  }
}

/** The manifest, with the policy and the support of who hands the bundle out. Directories ask for both. */
async function manifestOf({ privacyUrl, support }: Operator): Promise<string> {
  const manifest = JSON.parse(await readFile(at('manifest.json'), 'utf8')) as object
  const said = {
    ...(privacyUrl && { privacy_policies: [privacyUrl] }),
    ...(support && { support: supportLink(support) }),
  }
  return `${JSON.stringify({ ...manifest, ...said }, null, 2)}\n`
}

/** Packs it. @returns where the file is */
async function pack(): Promise<string> {
  const { version } = JSON.parse(await readFile(at('../../package.json'), 'utf8')) as { version: string }
  const directory = at('../../dist/mcpb')
  const outputPath = at(`../../dist/plinth-${version}.mcpb`)
  const { PLINTH_PRIVACY_URL: privacyUrl, PLINTH_SUPPORT: support } = process.env
  await buildBundle(directory, { privacyUrl, support })
  if (!(await packExtension({ extensionPath: directory, outputPath, silent: true })))
    throw new Error('The bundle is not valid: run "mcpb validate dist/mcpb/manifest.json".')
  return outputPath
}

function translate(source: string, fileName: string): string {
  const compilerOptions: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  }
  return ts.transpileModule(source, { fileName, compilerOptions }).outputText
}

/** The files of ours that a script imports, as paths below `src`. */
function importsOf(script: string, folder: string): string[] {
  const names = ts.preProcessFile(script).importedFiles.map(({ fileName }) => fileName)
  const own = names
    .filter((name) => !name.startsWith('node:'))
    .map((name) => [name, posix.join(folder, name)])
  const foreign = own.find(([name = '', path = '']) => !/^\.\.?\//.test(name) || !ROOMS.test(path))
  if (foreign !== undefined)
    throw new Error(`The relay imports ${foreign[0]}, which the bundle does not hold.`)
  return own.map(([, path = '']) => path.replace(/js$/, 'ts'))
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  process.stdout.write(`${await pack()}\n`)
