/** A record at a look, without leaving the list: `Space` opens it, and closes it again. */
import { to } from '../../addresses.ts'
import type { RecordType, Row } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { LinkButton } from '../../parts/link.tsx'
import { Facts } from '../../parts/panel.tsx'
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
        return (
          value !== undefined && [
            fieldName(field.path),
            <Value key={field.name} value={value} isState={field.isState} format={field.schema.format} />,
          ]
        )
      })}
    />
  </Dialog>
)
