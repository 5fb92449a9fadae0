/** Makes the files of a type a folder of a machine, by S3: the commands hold a key of their own, shown once. */
import { pathOf, useWrite } from '../../api/queries.ts'
import { Button } from '../../parts/button.tsx'
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
    write.send('POST', pathOf([base, 's3-credentials']), { file_type: type, permission, expires_in: SECONDS })
  return (
    <Dialog title={words.files.mountTitle} onClose={onClose} isWide>
      <p>{words.files.mountAbout}</p>
      {!write.data && (
        <p className="chips">
          <Button label={words.files.mountRead} disabled={write.isPending} onClick={() => make('read')} />
          {mayWrite && (
            <Button label={words.files.mountWrite} disabled={write.isPending} onClick={() => make('write')} />
          )}
        </p>
      )}
      {write.error && <Failure of={write.error} />}
      {Object.entries(write.data?.mount ?? {}).map(([tool, command]) => (
        <section key={tool}>
          <Text in="h3">{tool}</Text>
          <Copied label={tool} text={command} />
        </section>
      ))}
    </Dialog>
  )
}
