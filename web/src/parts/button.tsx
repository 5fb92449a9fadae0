/** What is pressed: a button that acts, with a label and an icon. It sends no form. */
import type { ComponentProps, ReactNode } from 'react'

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

/** The icons: strokes on a grid of 24, in the colour of the text. They never stand for a word alone. */
const PATHS = {
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  review: 'M4 12.5 9.5 18 20 6.5',
  agents: 'M5 9h14v10H5zM12 9V5M9 13.5v1.5M15 13.5v1.5M10 4h4',
  files: 'M6 3h8l4 4v14H6zM14 3v4h4',
  folder: 'M3 6h6l2 2h10v11H3z',
  automation: 'M13 3 5 14h6l-1 7 8-11h-6z',
  environments:
    'M6 4v12M18 8a6 6 0 0 1-6 6H6M6 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM18 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  types: 'M4 4h7v7H4zM13 13h7v7h-7zM7.5 11v5.5H13',
  ask: 'M5 7h14M5 12h10M5 17h6',
  graphql: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5 20 16.5M20 7.5 4 16.5M12 3v18',
  table: 'M4 5h16v14H4zM4 10h16M10 10v9',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4',
  undo: 'M8 5 4 9l4 4M4 9h10a5 5 0 0 1 0 10h-3',
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17v.5',
  down: 'm7 10 5 5 5-5',
  right: 'm9 6 6 6-6 6',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3 2',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  filter: 'M4 6h16M7 12h10M10 18h4',
  sort: 'M8 5v14M8 5 5 8M8 5l3 3M16 19V5M16 19l-3-3M16 19l3-3',
  columns: 'M5 5v14M12 5v14M19 5v14',
  chart: 'M4 20h16M7 16v-5M12 16V6M17 16v-8',
  copy: 'M9 9h11v11H9zM5 15V4h11',
  close: 'M6 6l12 12M18 6 6 18',
  more: 'M5 11.4a.6.6 0 1 0 .01 0ZM12 11.4a.6.6 0 1 0 .01 0ZM19 11.4a.6.6 0 1 0 .01 0Z',
  pen: 'M4 20l1-5L16 4l4 4L9 19zM13 7l4 4',
  plus: 'M12 5v14M5 12h14',
  link: 'M9 15 15 9M11 6l1-1a4 4 0 0 1 6 6l-1 1M13 18l-1 1a4 4 0 0 1-6-6l1-1',
  in: 'M14 5h5v14H5v-5M15 9l-6 6M9 10v5h5',
  out: 'M14 5h5v5M19 5l-9 9M17 14v5H5V7h5',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
