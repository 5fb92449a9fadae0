import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { newKeys } from '../support/s3.ts'
import { openWorld, type World } from '../support/world.ts'

// rclone is a program of its own, which CONTRIBUTING.md does not ask for.
const isInstalled = spawnSync('rclone', ['version']).status === 0

let world: World
let folder: string
beforeAll(async () => {
  world = await openWorld()
  folder = await mkdtemp(join(tmpdir(), 'plinth-rclone-'))
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

// The tool comes from the packages of the system, and not every machine has it.
test.skipIf(!isInstalled)(
  'rclone, where it is installed, copies a folder to a file type and back',
  async () => {
    const keys = await newKeys(world, { file_type: 'docs' })
    // The remote and the environment of the command that the credential came with.
    const [, remote = ''] = /(:s3,.*?:crm\/docs) /.exec(keys.mount.rclone) ?? []
    const { PATH = '' } = process.env
    const env = {
      PATH,
      HOME: folder,
      ...Object.fromEntries(
        [...keys.mount.rclone.matchAll(/(AWS_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
      ),
    }
    const rclone = (...args: string[]) => promisify(execFile)('rclone', args, { env })
    const place = `${remote.replace(/'/g, '')}/sent`
    await mkdir(join(folder, 'up/deep'), { recursive: true })
    const large = randomBytes(12 * 1024 * 1024)
    await writeFile(join(folder, 'up/large.bin'), large)
    await writeFile(join(folder, 'up/deep/a b+é.txt'), 'small')
    await rclone('copy', join(folder, 'up'), place, '--s3-upload-cutoff', '6Mi', '--s3-chunk-size', '5Mi')
    const { data } = succeed(await world.call('GET', '/v1/crm/files/docs'))
    expect(data).toMatchObject([
      { path: 'sent/deep/a b+é.txt' },
      { path: 'sent/large.bin', size: large.length },
    ])
    await rclone('copy', place, join(folder, 'down'))
    expect((await readFile(join(folder, 'down/large.bin'))).equals(large)).toBe(true)
    expect(await readFile(join(folder, 'down/deep/a b+é.txt'), 'utf8')).toBe('small')
    await rclone('moveto', `${place}/deep/a b+é.txt`, `${place}/moved.txt`)
    const { stdout } = await rclone('lsf', '-R', place)
    expect(stdout.trim().split('\n').sort()).toEqual(['large.bin', 'moved.txt'])
    await rclone('purge', place)
    expect(succeed(await world.call('GET', '/v1/crm/files/docs')).data).toEqual([])
  },
)
