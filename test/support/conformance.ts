import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandOf, runNode } from './run.ts'

const LONGER_TIMERS = new URL('./longer-timers.ts', import.meta.url).href

/**
 * The MCP conformance suites: `current` tests both eras, `stable` is the last release that tests only the
 * legacy era.
 */
const PACKAGES = { current: '@modelcontextprotocol/conformance', stable: 'conformance-stable' } as const

export type Suite = {
  of: keyof typeof PACKAGES
  /** The frozen scenarios of a protocol revision; the suite's default selection otherwise. */
  requirements?: string
  /** One scenario of a revision, in place of the selection. */
  scenario?: string
  /** Baseline file: the listed scenarios must fail, and no others may. */
  expectedFailures?: string
}

/**
 * Runs a conformance suite against a server that needs no token.
 * @returns the exit code, and the findings as text
 */
export async function runSuite(
  url: string,
  { of, requirements, scenario, expectedFailures }: Suite,
): Promise<{ code: number | null; report: string }> {
  const results = await mkdtemp(join(tmpdir(), 'plinth-conformance-'))
  const options = [
    ...['server', '--url', url, '-o', results],
    ...(requirements ? ['--requirements', requirements] : []),
    ...(scenario ? ['--scenario', scenario] : []),
    ...(expectedFailures ? ['--expected-failures', expectedFailures] : []),
  ]
  try {
    const { code, out, err } = await runNode(commandOf(PACKAGES[of], 'conformance'), options, {
      NODE_OPTIONS: `--import=${LONGER_TIMERS}`,
    })
    const found = out.slice(Math.max(0, out.indexOf('=== SUMMARY')))
    return { code, report: `${found}${await failuresIn(results, decides(found))}${err}` }
  } finally {
    await rm(results, { recursive: true, force: true })
  }
}

type Check = { id: string; status: string; errorMessage?: string; details?: unknown }

/** Whether a scenario counts: neither expected to fail nor unscored. */
function decides(found: string): (scenario: string) => boolean {
  const unexpected = [...found.matchAll(/^ {2}✗ ([\w-]+)(?::[\w-]+)?$/gm)].map(([, scenario]) => scenario)
  const unscored = [...found.matchAll(/^ {2}. (\S+) \(/gm)].map(([, scenario]) => scenario)
  return (scenario) => (unexpected.length > 0 ? unexpected.includes(scenario) : !unscored.includes(scenario))
}

/** Collects failures by scenario from the result files. The suite prints only counts. */
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
