import type { Parameters } from '../filter/parameters.ts'

/** `data` of `plinth.record AS r` with the properties that are shown, as SQL; as it is when all are. */
export const shownData = (shown: readonly string[] | null | undefined, parameters: Parameters): string =>
  shown
    ? `(SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') FROM jsonb_each(r.data) d WHERE d.key = ANY (${parameters.add(shown)}::text[]))`
    : 'r.data'
