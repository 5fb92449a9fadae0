/** Secrets that a promotion made. They are shown once. */
import { Copied } from '../../parts/copied.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { kindName } from '../../parts/proposal.ts'
import { Meta } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import type { Secret } from './load.ts'

export const Secrets = ({ of, onClose }: { of: readonly Secret[]; onClose: () => void }) => (
  <Dialog title={words.review.secrets} onClose={onClose}>
    <p>{words.review.secretsHint}</p>
    {of.map(({ kind, id, secret }) => (
      <div key={`${kind}/${id}`}>
        <Meta>{`${kindName(kind)} ${id}`}</Meta>
        <Copied label={`${kindName(kind)} ${id}`} text={secret ?? ''} />
      </div>
    ))}
  </Dialog>
)
