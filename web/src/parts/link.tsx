/** Ways to another page: one that looks like a button, a text of an agent, and the parameters of the address. */
import { type ReactNode, useCallback } from 'react'
import { Link } from 'wouter'
import { navigate, useSearch as useText } from 'wouter/use-browser-location'
import { changed, parse, type Search } from '../addresses.ts'
import { Icon, type IconName } from './button.tsx'
import { Text } from './text.tsx'

export const LinkButton = ({ href, label, icon }: { href: string; label: ReactNode; icon?: IconName }) => (
  <Link className="button" href={href}>
    {icon && <Icon name={icon} />}
    {label}
  </Link>
)

type TextProps = { href: string; text: string; className?: string }

export const TextLink = ({ href, text, className = '' }: TextProps) => (
  <Link className={className} href={href}>
    <Text>{text}</Text>
  </Link>
)

export type Change = (changes: Search, refines?: boolean) => void

/** The parameters, and how to change some. A change is a new entry of the history, unless it only refines the last. */
export function useParameters(): [Search, Change] {
  const text = useText()
  const change = useCallback<Change>((changes, refines = false) => {
    navigate(location.pathname + changed(location.search, changes), { replace: refines })
  }, [])
  return [parse(text), change]
}
