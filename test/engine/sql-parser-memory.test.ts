import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Parses thousands of statements, and prints the most megabytes that V8's compilers held meanwhile. */
const PARSE = `
  import v8 from 'node:v8'
  import { loadParser } from './src/engine/sql/guard/syntax/parse-statement.ts'
  const parser = await loadParser()
  const names = Array.from({ length: 40 }, (_, i) => 'row_to_json(t' + i + ') AS c' + i + ', c' + i + ' + 1')
  for (let n = 0; n < 3000; n++) parser.parse('SELECT ' + names.join() + ' FROM deal WHERE id = ' + n)
  console.log(v8.getHeapStatistics().peak_malloced_memory / 2 ** 20)
`

test('statements are parsed without an optimizing compilation of hundreds of megabytes', {
  tags: 'full',
}, async () => {
  // The flag compiles at once what is otherwise compiled in the background.
  const flags = ['--wasm-sync-tier-up', '--input-type=module', '--eval', PARSE]
  const { stdout } = await promisify(execFile)(process.execPath, flags)
  expect(Number(stdout)).toBeLessThan(100)
})
