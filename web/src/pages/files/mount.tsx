/** Makes the files of a type a folder of a machine, by S3: the commands hold a key of their own, shown once. */
import { useWrite } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import { Copied } from '../../parts/copied.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { Text } from '../../parts/plain-text.tsx'
import { words } from '../../words.ts'

const SECONDS = 6 * 3600
type Made = { mount: Record<'rclone' | 's3fs', string> | null }

export function Mount({ base, type, onClose }: { base: string; type: string; onClose: () => void }) {
  const write = useWrite<Made>(undefined)
  const mayWrite = useMay(base, '*', 'write')
  const make = (permission: string) =>
    write.mutate({
      method: 'POST',
      path: pathOf([base, 's3-credentials']),
      body: { file_type: type, permission, expires_in: SECONDS },
    })
  return (
    <Dialog title={words.files.mountTitle} onClose={onClose} isWide>
      <p>{words.files.mountAbout}</p>
      {!write.data && (
        <p className="chips">
          <button type="button" disabled={write.isPending} onClick={() => make('read')}>
            {words.files.mountRead}
          </button>
          {mayWrite && (
            <button type="button" disabled={write.isPending} onClick={() => make('write')}>
              {words.files.mountWrite}
            </button>
          )}
        </p>
      )}
      {write.error && <Failure of={write.error} />}
      {Object.entries(write.data?.mount ?? {}).map(([tool, command]) => (
        <section key={tool}>
          <h3>
            <Text>{tool}</Text>
          </h3>
          <Copied label={tool} text={command} />
        </section>
      ))}
    </Dialog>
  )
}
