/** A button that acts, with a label and an icon. It sends no form. */
import type { ComponentProps, ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** `kbd` is the key that presses it, said where there is room. */
type Own = { label?: ReactNode; icon?: IconName; kbd?: string }
type Props = Omit<ComponentProps<'button'>, 'children'> & Own

export const Button = ({ label, icon, kbd, ...rest }: Props) => (
  <button type="button" {...rest}>
    {icon && <Icon name={icon} />}
    {label}
    {kbd && ' '}
    {kbd && <kbd className="wide-only">{kbd}</kbd>}
  </button>
)

type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }

/** The next page of a list, where there is one. */
export const More = ({ of, label }: { of: Pages; label: string }) =>
  of.hasNextPage && (
    <Button label={label} disabled={of.isFetchingNextPage} onClick={() => void of.fetchNextPage()} />
  )
