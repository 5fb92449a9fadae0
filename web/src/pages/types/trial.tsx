/** A change of a record type in a dialog. It is tried while one types, and what it would break is said before it counts. */
import type { ReactNode } from 'react'
import { to } from '../../addresses.ts'
import { pathOf, type RecordType, useWrite } from '../../api/queries.ts'
import { Failure, say } from '../../parts/answer.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { type Trial, useTrial } from '../../parts/form.tsx'
import { TextLink } from '../../parts/link.tsx'
import { Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'

type Tried = RecordType & { meta?: { warnings?: string[]; records_rewritten?: number } }
type Props = {
  base: string
  id: string
  /** Undefined: it is new. */
  type: RecordType | undefined
  title: string
  act: string
  /** Undefined while nothing is changed. */
  body: object | undefined
  tone?: 'danger' | undefined
  foot?: ReactNode
  onDone?: (type: RecordType) => void
  onClose: () => void
  children: ReactNode
}

export function TypeChange(props: Props) {
  const { base, id, type, title, act, body, tone, foot, onDone, onClose, children } = props
  const method = type ? 'PATCH' : 'PUT'
  const path = pathOf([base, 'record-types', id])
  const trial = useTrial<Tried>(method, path, body)
  const write = useWrite<RecordType>(base)
  const isReady = trial.isOfNow && trial.answer !== undefined
  const done = (made: RecordType) => {
    say(words.types.done(made.version))
    onClose()
    onDone?.(made)
  }
  const version = type ? { 'if-match': `"${type.version}"` } : { 'if-none-match': '*' }
  const onSelect = () => write.send(method, path, body, done, version)
  return (
    <Dialog
      title={<Text>{title}</Text>}
      onClose={onClose}
      foot={foot}
      act={{ label: <Text>{act}</Text>, isReady, onSelect, write, isForm: true, tone }}
    >
      {children}
      <div role="status">{body !== undefined && <Consequences base={base} type={type?.id} of={trial} />}</div>
    </Dialog>
  )
}

type ConsequencesProps = { base: string; type: string | undefined; of: Trial<Tried> }

function Consequences({ base, type, of: { isOfNow, answer, failure } }: ConsequencesProps) {
  if (!isOfNow) return <p className="meta">{words.types.trying}</p>
  if (failure) {
    const samples = failure.details.flatMap((detail) => detail.samples ?? [])
    if (type === undefined || samples.length === 0) return <Failure of={failure} />
    return (
      <section className="amber">
        <Text in="p">{failure.message}</Text>
        <ul className="plain-list">
          {samples.slice(0, 5).map(({ id, message }) => (
            <li key={id}>
              <TextLink href={to.record(base, type, id)} text={id} /> <Text>{message}</Text>
            </li>
          ))}
        </ul>
        <p className="meta">{words.types.inPreview}</p>
      </section>
    )
  }
  const { warnings = [], records_rewritten: count = 0 } = answer?.meta ?? {}
  return (
    <>
      <p className="meta">{count > 0 ? words.types.rewrites(count) : words.types.fits}</p>
      {warnings.length > 0 && (
        <section className="amber">
          {warnings.map((warning) => (
            <Text key={warning} in="p">
              {warning}
            </Text>
          ))}
        </section>
      )}
    </>
  )
}
