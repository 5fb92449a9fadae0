/** A record at a look, without leaving the list: `Space` opens it, and closes it again. */
import { to } from '../../addresses.ts'
import type { RecordType, Row } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { LinkButton } from '../../parts/link.tsx'
import { fieldsOf, titleOf, valueAt } from '../../parts/record-types.ts'
import { fieldName, Text } from '../../parts/text.tsx'
import { Value } from '../../parts/value.tsx'
import { words } from '../../words.ts'

type Props = { base: string; type: RecordType; row: Row; onClose: () => void }

export const Peek = ({ base, type, row, onClose }: Props) => (
  <Dialog
    title={<Text>{titleOf(row, type)}</Text>}
    onClose={onClose}
    foot={
      <>
        <Button label={words.close} onClick={onClose} />
        <LinkButton label={words.environments.open} href={to.record(base, type.id, row.id)} />
      </>
    }
  >
    <Facts
      of={fieldsOf(type).map((field) => {
        const value = valueAt(row, field)
        const { name, path, isState, schema } = field
        const shown = <Value key={name} value={value} isState={isState} format={schema.format} />
        return [fieldName(path), value !== undefined && shown] as const
      })}
    />
  </Dialog>
)
