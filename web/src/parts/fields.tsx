/** Fields of a form, and choices of a few, in a list or side by side. */
import { type ComponentProps, Fragment, type ReactNode, useId } from 'react'
import { Button } from './button.tsx'

/** With options it is a choice. `hint` is what helps to fill it. */
export type Field<Name> = Omit<ComponentProps<'input'>, 'name' | 'value' | 'onChange'> & {
  name: Name
  label: ReactNode
  hint?: string
  options?: Iterable<readonly [string, string]>
}
type FieldsProps<Draft> = {
  of: readonly (Field<keyof Draft & string> | false)[]
  draft: Draft
  onChange: (draft: Draft) => void
}

/** The fields of a draft, each with its label. */
export function Fields<Draft extends Record<string, string>>({ of, draft, onChange }: FieldsProps<Draft>) {
  const form = useId()
  return of.map((field) => {
    if (!field) return null
    const { name, label, hint, options, ...rest } = field
    const id = `${form}-${name}`
    const change = (value: string) => onChange({ ...draft, [name]: value })
    return (
      <Fragment key={name}>
        <label htmlFor={id}>{label}</label>
        {options ? (
          <Select id={id} options={options} value={draft[name] ?? ''} onChange={change} />
        ) : (
          <input
            {...{ id, autoComplete: 'off', 'aria-describedby': hint && `${id}-hint`, ...rest }}
            value={draft[name]}
            onChange={({ target }) => change(target.value)}
          />
        )}
        {hint && (
          <p id={`${id}-hint`} className="meta second">
            {hint}
          </p>
        )}
      </Fragment>
    )
  })
}

type SelectProps<Value extends string> = Omit<ComponentProps<'select'>, 'onChange' | 'children'> & {
  options: Iterable<readonly [Value, string]>
  value: Value
  onChange: (value: Value) => void
}

export const Select = <Value extends string>({ options, onChange, ...rest }: SelectProps<Value>) => (
  <select {...rest} onChange={({ target }) => onChange(target.value as Value)}>
    {Array.from(options, ([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
)

type Props<Value extends string> = {
  label: string
  options: Readonly<Record<Value, string>>
  value: Value
  onChange: (value: Value) => void
  /** Behind them, another way to choose. */
  children?: ReactNode
}

export const Segments = <Value extends string>({
  label,
  options,
  value,
  onChange,
  children,
}: Props<Value>) => (
  <fieldset className="segments">
    <legend className="hidden">{label}</legend>
    {(Object.entries(options) as [Value, string][]).map(([each, text]) => (
      <Button key={each} label={text} aria-pressed={each === value} onClick={() => onChange(each)} />
    ))}
    {children}
  </fieldset>
)
