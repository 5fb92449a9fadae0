/** A choice of texts by their values. */
import type { ComponentProps } from 'react'

type Props<Value extends string> = Omit<ComponentProps<'select'>, 'onChange' | 'children'> & {
  options: Iterable<readonly [Value, string]>
  value: Value
  onChange: (value: Value) => void
}

export const Select = <Value extends string>({ options, onChange, ...rest }: Props<Value>) => (
  <select {...rest} onChange={({ target }) => onChange(target.value as Value)}>
    {Array.from(options, ([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
)
