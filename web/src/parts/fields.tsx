/** Fields of a form, each with its label. */
import { type ComponentProps, type ReactNode, useId } from 'react'
import { Select, type SelectProps } from './select.tsx'

type TextProps = Omit<ComponentProps<'input'>, 'onChange'> & {
  label: ReactNode
  hint?: string
  onChange: (text: string) => void
}

/** A line, below it what helps to fill it. */
export function TextField({ label, hint, onChange, ...rest }: TextProps) {
  const id = useId()
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        autoComplete="off"
        aria-describedby={hint ? `${id}-hint` : undefined}
        {...rest}
        onChange={({ target }) => onChange(target.value)}
      />
      {hint && (
        <p id={`${id}-hint`} className="meta second">
          {hint}
        </p>
      )}
    </>
  )
}

export function ChoiceField<Value extends string>({
  label,
  ...rest
}: SelectProps<Value> & { label: string }) {
  const id = useId()
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <Select id={id} {...rest} />
    </>
  )
}
