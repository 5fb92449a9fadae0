import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandOf, runNode } from './run.ts'

/** The suite that knows both eras, and the last of the line before it, which knows the older one. */
const PACKAGES = { current: '@modelcontextprotocol/conformance', stable: 'conformance-stable' } as const

export type Suite = {
  of: keyof typeof PACKAGES
  /** The frozen set of scenarios that a revision of the protocol requires; the suite's own choice, when left out. */
  requirements?: string
  /** A baseline: what it names must fail, and nothing else may. */
  expectedFailures?: string
}

/** Runs a suite against a server that needs no token. @returns the exit code, and what was found, for people */
export async function runSuite(
  url: string,
  { of, requirements, expectedFailures }: Suite,
): Promise<{ code: number | null; report: string }> {
  const results = await mkdtemp(join(tmpdir(), 'plinth-conformance-'))
  const options = [
    ...['server', '--url', url, '-o', results],
    ...(requirements ? ['--requirements', requirements] : []),
    ...(expectedFailures ? ['--expected-failures', expectedFailures] : []),
  ]
  try {
    const { code, out, err } = await runNode(commandOf(PACKAGES[of], 'conformance'), options)
    const found = out.slice(Math.max(0, out.indexOf('=== SUMMARY')))
    return { code, report: `${found}${await failuresIn(results, decides(found))}${err}` }
  } finally {
    await rm(results, { recursive: true, force: true })
  }
}

type Check = { id: string; status: string; errorMessage?: string; details?: unknown }

/** Is a scenario among those that decide: not expected to fail, nor run for the record only? */
function decides(found: string): (scenario: string) => boolean {
  const unexpected = [...found.matchAll(/^ {2}✗ ([\w-]+)(?::[\w-]+)?$/gm)].map(([, scenario]) => scenario)
  const unscored = [...found.matchAll(/^ {2}. (\S+) \(/gm)].map(([, scenario]) => scenario)
  return (scenario) => (unexpected.length > 0 ? unexpected.includes(scenario) : !unscored.includes(scenario))
}

/** What failed, scenario by scenario: the suite prints how much, and writes what into files. */
async function failuresIn(results: string, concerns: (scenario: string) => boolean): Promise<string> {
  const lines: string[] = []
  for (const directory of (await readdir(results)).sort()) {
    const scenario = directory.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, '')
    if (!concerns(scenario)) continue
    const checks = JSON.parse(await readFile(join(results, directory, 'checks.json'), 'utf8')) as Check[]
    for (const { id, status, errorMessage, details } of checks)
      if (status === 'FAILURE' || status === 'WARNING')
        lines.push(
          `${status} ${scenario}:${id} ${errorMessage ?? ''} ${JSON.stringify(details)}`.slice(0, 2000),
        )
  }
  return `${lines.join('\n')}\n`
}
