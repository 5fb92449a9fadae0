/** A choice of a few, in a list or side by side. */
import type { ComponentProps, ReactNode } from 'react'
import { Button } from './button.tsx'

export type SelectProps<Value extends string> = Omit<ComponentProps<'select'>, 'onChange' | 'children'> & {
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
