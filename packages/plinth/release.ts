/** Makes a release of the changesets that wait: a section of the changelog, and the next version wherever it stands. */
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const MANIFEST = join(ROOT, 'package.json')
/** Files that name the version too. Tests compare them. */
const COPIES = [
  'packages/client/package.json',
  'packages/mcpb/manifest.json',
  'server.json',
  'src/mcp/protocol/instructions.ts',
]

const before = await readFile(MANIFEST, 'utf8')
const { workspaces: _, ...alone } = JSON.parse(before) as { version: string; workspaces: string[] }
try {
  // Changesets know the root as a package only where it has no workspaces.
  await writeFile(MANIFEST, JSON.stringify(alone))
  const cli = join(dirname(createRequire(import.meta.url).resolve('@changesets/cli/package.json')), 'bin.js')
  const { status } = spawnSync(process.execPath, [cli, 'version'], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error('The changesets could not be read.')
  const { version } = JSON.parse(await readFile(MANIFEST, 'utf8')) as typeof alone
  await writeFile(MANIFEST, before)
  for (const name of ['package.json', ...COPIES]) await raise(join(ROOT, name), version)
} catch (error) {
  await writeFile(MANIFEST, before)
  throw error
}

async function raise(file: string, version: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/("version"|\bversion): (["'])[^"']*\2/, `$1: $2${version}$2`))
}
