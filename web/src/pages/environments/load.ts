/** The previews of a base, and what they differ in from production. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { type Base, type Change, type Page, pathOf, useBase, useRead } from '../../api/queries.ts'
import { type Proposal, proposalOf } from '../../parts/proposal.ts'

export type Preview = { is: Base; proposal: Proposal | undefined }

/** Change-sets say how much they change; of the other previews it is asked, as the page of reviews does. */
export function useEnvironments(base: string) {
  const here = useBase(base)
  const production = here.data?.production_base ?? base
  const main = useBase(production)
  const all = useRead<Page<Base>>(pathOf([production, 'previews'], { limit: 100 }), {
    enabled: here.data !== undefined,
  })
  const previews = all.data?.data ?? []
  const proposals = useQueries({
    queries: previews.map(({ id: from, change_set: set }) => ({
      ...proposalOf(production, { from }),
      enabled: !set,
    })),
  })
  return {
    ...all,
    error: here.error ?? all.error,
    refetch: () => void Promise.all([here.refetch(), all.refetch()]),
    production,
    main: main.data,
    previews: previews.map((is, at): Preview => ({ is, proposal: proposals[at]?.data })),
  }
}

/** What a change-set changes, as the other previews say it; of one that ended nothing is asked. */
export function useProposal(production: string, { is, proposal }: Preview): Proposal | undefined {
  const enabled = proposal === undefined && (is.change_set?.closed_at ?? null) === null
  return useQuery({ ...proposalOf(production, { from: is.id }), enabled }).data
}

/** Who made a preview: a change-set says it; of others the log does, if it still goes back so far. */
export function useMaker({ id, change_set: set }: Base): string | undefined {
  const path = pathOf([id, 'changes'], { kind: 'base', operation: 'create', limit: 1 })
  const logged = useRead<Page<Change>>(path, { enabled: !set })
  return set?.created_by_name ?? logged.data?.data[0]?.actor.name
}

export const useSeeds = (preview: Base) =>
  useRead<Page<{ id: string; name: string | null }>>(pathOf([preview.id, 'seeds'], { limit: 100 }), {
    enabled: !preview.change_set,
  })
