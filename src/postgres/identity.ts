/** As whom the server runs: PostgreSQL refuses to be root. */
import { execFile } from 'node:child_process'
import { chown, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { dataOwner, type Place } from './place.ts'

const run = promisify(execFile)
const NOBODY = 65534

/** What to put before a command; `owner` is whose the files must be, when they are not ours. */
export type Identity = { prefix: string[]; owner?: { uid: number; gid: number } }

/** Ordinary users run the server as themselves; root by whichever way this machine allows. */
export async function chooseIdentity(place: Place, postgres: string): Promise<Identity> {
  if (process.geteuid?.() !== 0) return { prefix: [] }
  const { uid, gid } = await dataOwner(place)

  // In a namespace root looks like nobody, yet reaches all that root owns, and its files stay root's.
  const namespace = { prefix: ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`] }
  if (uid === 0 && (await works(namespace, place, postgres))) return namespace

  // Data of an ordinary user stays theirs, so that they can start the server again without root.
  const owner = uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid, gid }
  const other = { prefix: switchUser(owner), owner }
  if (await works(other, place, postgres)) return other

  throw new Error(
    'PostgreSQL does not run as root, and neither unshare nor setpriv could drop root here. Start as an ' +
      `ordinary user who owns ${place.dataDir}, or name another PostgreSQL in DATABASE_URL.`,
  )
}

/** Gives the server's user the files it must own or write. */
export async function handOver({ owner }: Identity, place: Place): Promise<void> {
  if (!owner) return
  await chown(place.run, owner.uid, owner.gid)
  await chown(place.logFile, owner.uid, owner.gid)
  if ((await stat(place.pgdata)).uid === owner.uid) return
  await run('chown', ['-R', `${owner.uid}:${owner.gid}`, place.pgdata])
}

/** The one capability kept lets it pass directories of mode 700 on the way to its files. */
function switchUser({ uid, gid }: { uid: number; gid: number }): string[] {
  const caps = '-all,+dac_override'
  const user = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups']
  const kept = [`--inh-caps=${caps}`, `--ambient-caps=${caps}`, `--bounding-set=${caps}`]
  return ['setpriv', '--securebits', '+no_setuid_fixup', ...user, ...kept]
}

/** Tried rather than deduced: it must reach both the data and the program. */
async function works({ prefix }: Identity, place: Place, postgres: string): Promise<boolean> {
  const [command = '', ...rest] = prefix
  const script = 'test -w "$1" && exec "$2" --version'
  return run(command, [...rest, '/bin/sh', '-c', script, 'sh', place.dataDir, postgres]).then(
    () => true,
    () => false,
  )
}
