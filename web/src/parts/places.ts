/** The pages of a base, in the order of the side bar. */
import { to } from '../addresses.ts'
import { words } from '../words.ts'
import type { IconName } from './button.tsx'

export type Place = { key: string; icon: IconName; name: string; address: string }

/** The first ones: phones have them in their bar, the others under "More". */
export const FIRST = 3

export const placesOf = (base: string): readonly Place[] => [
  { key: 'a', icon: 'activity', name: words.nav.activity, address: to.activity(base) },
  { key: 'v', icon: 'review', name: words.nav.review, address: to.review(base) },
  { key: 't', icon: 'agents', name: words.nav.agents, address: to.agents(base) },
  { key: 'f', icon: 'files', name: words.nav.files, address: to.files(base) },
  { key: 'u', icon: 'automation', name: words.nav.automation, address: to.automation(base) },
  { key: 'e', icon: 'environments', name: words.nav.environments, address: to.environments(base) },
  { key: 'y', icon: 'types', name: words.nav.types, address: to.types(base) },
  { key: 'q', icon: 'ask', name: words.nav.ask, address: to.ask(base) },
]

/** Whether a path is within a page. Activity has the address of the base itself. */
export function isAt({ address }: Place, path: string, base: string): boolean {
  const home = to.activity(base)
  if (address === home) return path === home || path.startsWith(`${home}/r/`)
  return `${path}/`.startsWith(`${address}/`)
}
