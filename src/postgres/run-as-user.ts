/** Chooses the OS user that runs the server, because PostgreSQL refuses to run as root. */
import { execFile } from 'node:child_process'
import { chown, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { dataOwner, type PostgresPaths } from './paths.ts'

const run = promisify(execFile)
const NOBODY = 65534

/** Command prefix that switches the user; `owner` is the required owner of the files, if it is not us. */
export type Identity = { prefix: string[]; owner?: { uid: number; gid: number } }

/** Ordinary users run the server as themselves. Root uses the first method that works on this machine. */
export async function chooseIdentity(paths: PostgresPaths, postgres: string): Promise<Identity> {
  if (process.geteuid?.() !== 0) return { prefix: [] }
  const { uid, gid } = await dataOwner(paths)

  // In a user namespace root appears as nobody, but can access root's files, which stay root's.
  const namespace = { prefix: ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`] }
  if (uid === 0 && (await works(namespace, paths, postgres))) return namespace

  // Data of an ordinary user keeps its owner, so that the user can start the server without root.
  const owner = uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid, gid }
  const other = { prefix: switchUser(owner), owner }
  if (await works(other, paths, postgres)) return other

  throw new Error(
    'PostgreSQL does not run as root, and neither unshare nor setpriv could drop root here. Start as an ' +
      `ordinary user who owns ${paths.dataDir}, or name another PostgreSQL in DATABASE_URL.`,
  )
}

/** Changes the owner of the files that the server must own or write. */
export async function handOver({ owner }: Identity, paths: PostgresPaths): Promise<void> {
  if (!owner) return
  await chown(paths.run, owner.uid, owner.gid)
  await chown(paths.logFile, owner.uid, owner.gid)
  if ((await stat(paths.pgdata)).uid === owner.uid) return
  await run('chown', ['-R', `${owner.uid}:${owner.gid}`, paths.pgdata])
}

/** Keeps one capability, to traverse directories of mode 700 on the way to the files. */
function switchUser({ uid, gid }: { uid: number; gid: number }): string[] {
  const caps = '-all,+dac_override'
  const user = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups']
  const kept = [`--inh-caps=${caps}`, `--ambient-caps=${caps}`, `--bounding-set=${caps}`]
  return ['setpriv', '--securebits', '+no_setuid_fixup', ...user, ...kept]
}

/** Tests that the identity can access the data and run the program. */
async function works({ prefix }: Identity, paths: PostgresPaths, postgres: string): Promise<boolean> {
  const [command = '', ...rest] = prefix
  const script = 'test -w "$1" && exec "$2" --version'
  return run(command, [...rest, '/bin/sh', '-c', script, 'sh', paths.dataDir, postgres]).then(
    () => true,
    () => false,
  )
}
