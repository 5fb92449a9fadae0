/** The client uses what browsers, Deno, Bun and Node all have. */
import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'

test('the client compiles against the types of browsers alone, and imports no package', {
  tags: 'full',
}, () => {
  const { config } = ts.readConfigFile('packages/client/tsconfig.json', (path) => readFileSync(path, 'utf8'))
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, 'packages/client')
  expect(options.types).toEqual([])
  const program = ts.createProgram(fileNames, { ...options, noEmit: true })
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  expect(faults).toEqual([])
  const texts = globSync('packages/client/src/*.ts').map((path) => readFileSync(path, 'utf8'))
  const imported = texts.flatMap((text) =>
    ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName),
  )
  expect(imported.length).toBeGreaterThan(5)
  expect(imported.filter((name) => !name.startsWith('./'))).toEqual([])
})
