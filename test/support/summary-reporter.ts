import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Vitest reporter that ends a run with one machine-readable line. */
export default class SummaryReporter implements Reporter {
  #counts = { passed: 0, failed: 0 }

  onTestCaseResult(test: TestCase): void {
    const { state } = test.result()
    if (state === 'passed' || state === 'failed') this.#counts[state]++
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const broken = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length > 0,
    ).length
    const { passed, failed } = this.#counts
    process.stdout.write(`\n${passed} passed, ${failed + broken + errors.length} failed\n`)
  }
}
