/** A field of a record type, or a new one: its name, what it holds, and whether it is required. */
import { useState } from 'react'
import type { Data, RecordType } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { nameOf, own } from '../../parts/record-types.ts'
import { fieldName } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { bodyOf, draftOf, draftSchema } from './draft.ts'
import { TypeChange } from './trial.tsx'

type Props = { base: string; type: RecordType; name: string | undefined; onClose: () => void }

export function EditField({ base, type, name, onClose }: Props) {
  const began = draftOf(type, name)
  const [draft, setDraft] = useState<Data>(began)
  const [isGone, setGone] = useState(false)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(began)
  const shown = fieldName(name ?? String(own(draft, words.types.draft.name) ?? words.types.newField))
  return (
    <TypeChange
      base={base}
      id={type.id}
      type={type}
      title={words.types.fieldTitle(nameOf(type, type.id), shown)}
      act={isGone ? words.types.dropAct(shown) : name === undefined ? words.types.addField : words.types.save}
      isDanger={isGone}
      body={
        isGone
          ? { migration: [{ op: 'drop', field: `data.${name}` }] }
          : isChanged
            ? bodyOf(type, name, draft)
            : undefined
      }
      foot={
        name !== undefined && (
          <Button
            className="quiet"
            label={isGone ? words.types.keepField : words.types.dropField}
            onClick={() => setGone(!isGone)}
          />
        )
      }
      onClose={onClose}
    >
      {isGone ? (
        <p>{words.types.dropAbout}</p>
      ) : (
        <Form
          type={{ display: {}, json_schema: draftSchema(type, name, draft) }}
          value={draft}
          onChange={setDraft}
          faults={[]}
        />
      )}
    </TypeChange>
  )
}
