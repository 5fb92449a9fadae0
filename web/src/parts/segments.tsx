/** A choice of a few, side by side. */
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

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
