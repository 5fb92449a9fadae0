/** The pages of a base, in the order of the side bar. */
import { to } from '../addresses.ts'
import { words } from '../words.ts'
import type { IconName } from './button.tsx'
import { useMay } from './grants.ts'

export type Place = { key: string; icon: IconName; name: string; address: string }

/** The first ones: phones have them in their bar, the others under "More". */
export const FIRST = 3

/** Those that the caller can open. Some are about all of the base, others about its record types, and one about the own token. */
export function usePlaces(base: string): readonly Place[] {
  const ofAll = useMay(base, '*', 'read')
  const ofAny = useMay(base, undefined, 'read')
  const { nav } = words
  const places = [
    { may: ofAny, key: 'a', icon: 'activity', name: nav.activity, address: to.activity(base) },
    { may: ofAll, key: 'v', icon: 'review', name: nav.review, address: to.review(base) },
    { may: true, key: 't', icon: 'agents', name: nav.agents, address: to.agents(base) },
    { may: ofAll, key: 'f', icon: 'files', name: nav.files, address: to.files(base) },
    { may: ofAll, key: 'u', icon: 'automation', name: nav.automation, address: to.automation(base) },
    { may: ofAny, key: 'e', icon: 'environments', name: nav.environments, address: to.environments(base) },
    { may: ofAny, key: 'y', icon: 'types', name: nav.types, address: to.types(base) },
    { may: ofAny, key: 'q', icon: 'ask', name: nav.ask, address: to.ask(base) },
  ] as const
  return places.filter(({ may }) => may)
}

/** Whether a path is within a page. Activity has the address of the base itself. */
export function isAt({ address }: Place, path: string, base: string): boolean {
  const home = to.activity(base)
  if (address === home) return path === home || path.startsWith(`${home}/r/`)
  return `${path}/`.startsWith(`${address}/`)
}
