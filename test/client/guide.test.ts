/** The example that docs/client.md begins with runs as it is printed. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { plinth } from '../cli/plinth.ts'
import { succeed } from '../support/answers.ts'
import { openWorld } from '../support/world.ts'

const CLIENT = new URL('../../packages/client/src/index.ts', import.meta.url)
const GUIDE = new URL('../../docs/client.md', import.meta.url)

test('the example of the guide creates, patches and lists records', { tags: 'full' }, async () => {
  const world = await openWorld()
  const folder = await mkdtemp(join(tmpdir(), 'plinth-guide-'))
  try {
    const properties = {
      title: { type: 'string' },
      stage: { enum: ['open', 'won'] },
      amount: { type: 'number' },
    }
    const type = { json_schema: { type: 'object', properties } }
    succeed(await world.call('PUT', '/v1/crm/record-types/deal', type), 201)
    const settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken }
    const [, example = ''] = /^```ts\n(.*?)^```/ms.exec(await readFile(GUIDE, 'utf8')) ?? []
    await plinth(['gen', 'types', '--base', 'crm', '--out', join(folder, 'crm.ts')], settings)
    await writeFile(join(folder, 'deals.ts'), example.replace("'plinth-client'", JSON.stringify(CLIENT.href)))
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, 'deals.ts')], {
      env: { ...settings, PATH: process.env['PATH'] },
    })
    expect(
      stderr.replace(/.*(ExperimentalWarning|MODULE_TYPELESS|Reparsing|To eliminate|Use `node).*\n/g, ''),
    ).toBe('')
    expect(stdout).toMatch(/^\S+ Nails\n$/)
  } finally {
    await world.close()
    await rm(folder, { recursive: true })
  }
})
