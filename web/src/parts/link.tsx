/** Ways to another page: one that looks like a button, and a text of an agent. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Icon, type IconName } from './icon.tsx'
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
