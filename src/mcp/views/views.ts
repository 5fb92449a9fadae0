/** The views that hosts show in the chat (MCP Apps): pages that are built from `web/src/views`, and the tools that open them. */
import { readFile } from 'node:fs/promises'
import { LIMITS } from '../../foundation/limits.ts'
import { sealText, unsealText } from '../../graphql/context.ts'
import { builtFile } from '../../http/explorer.ts'
import { type AddressSession, addressOf } from '../protocol/address-session.ts'
import { VIEW_TYPE } from '../protocol/client-extensions.ts'
import type { ToolResult } from '../protocol/result.ts'

/** Each view, and the tools whose answers it shows. */
const VIEWS = {
  decide: [
    ...['propose', 'promote', 'rollback_promotion', 'undo', 'delete_record', 'delete_definition'],
    ...['batch', 'sql_write', 'proposal'],
  ],
  records: ['query_records', 'get_record'],
  changes: ['changes', 'record_history'],
} as const
export type View = keyof typeof VIEWS

const uriOf = (view: View) => `ui://plinth/${view}`
const OF_TOOL: ReadonlyMap<string, View> = new Map(
  Object.entries(VIEWS).flatMap(([view, tools]) => tools.map((tool) => [tool, view as View])),
)

/** The view of a tool of a base, if it has one. */
export const viewOf = (tool: string): View | undefined => OF_TOOL.get(tool)

/** Whether the plans of a tool are decided in a view, where the client shows views. */
export const decidesInView = (tool: string): boolean => viewOf(tool) === 'decide'

/** A definition with its view; `of` is the tool of a base that it is. */
export function inView<T extends object>(tool: T, of: string | undefined): T {
  const view = of === undefined ? undefined : viewOf(of)
  return view === undefined ? tool : { ...tool, _meta: { ui: { resourceUri: uriOf(view) } } }
}

/** What a host is told of a tool that only views call. */
export const onlyIn = (view: View) => ({ ui: { resourceUri: uriOf(view), visibility: ['app'] } })

/** The tools that views call for a person, beside `decide`. */
export const CALLED_IN_VIEWS = ['query_records', 'update_record', 'undo'] as const

/** What a view is told of its address: how the tools that it may call are named there. */
export type ViewPlace = {
  readonly tools: Partial<Record<(typeof CALLED_IN_VIEWS)[number], string>>
  /** The record type of the answer, where the arguments do not name it. */
  readonly record_type?: string
  /** The only token whose requests can be undone there. */
  readonly undoes?: string | null
  /** Where a person decides on what was proposed. */
  readonly url?: string
}

/** Where a person decides who is not in a view. */
export const reviewUrl = (publicUrl: string, base: string) => `${publicUrl}/b/${base}/review`

const PLACE_OF_KEY = '{{plinth-page-key}}'

/**
 * The page of a view; undefined if the URI names none, or the client shows none. The page has a key of its own, without
 * which nothing is decided: what a model reads of results does not suffice.
 */
export async function readView(session: AddressSession, uri: string) {
  const view = (Object.keys(VIEWS) as View[]).find((each) => uriOf(each) === uri)
  if (view === undefined || !session.hasViews) return undefined
  const file = builtFile(`views/${view}.html`)
  const page = file ? await readFile(file, 'utf8') : MISSING
  const text = page.replaceAll(PLACE_OF_KEY, pageKey(session))
  // Without `csp` a host lets the page load nothing and send nothing.
  return { contents: [{ uri, mimeType: VIEW_TYPE, text, _meta: { ui: { prefersBorder: true } } }] }
}
const MISSING =
  '<!doctype html><title>Plinth</title><p>The views of this server are not built: npm run web.</p>'

const KEY = (session: AddressSession) => ['page of views', addressOf(session)]
const pageKey = (session: AddressSession): string => sealText(session.context, KEY(session), 'page')
export const isPageKey = (session: AddressSession, key: string): boolean =>
  unsealText(session.context, KEY(session), key) === 'page'

const DETAILS = new WeakMap<object, object>()

/** Adds to an answer what only a view gets: it costs a model nothing. */
export function forView<Answer extends object>(answer: Answer, details: object): Answer {
  DETAILS.set(answer, details)
  return answer
}

/** The changes of a promotion with their differences, as many as a view shows. */
export function changesForView<Change>(changes: readonly Change[]) {
  let shown = changes.slice(0, LIMITS.viewChanges)
  while (shown.length > 1 && JSON.stringify(shown).length > LIMITS.viewChangesChars)
    shown = shown.slice(0, Math.ceil(shown.length / 2))
  return { changes: shown, more: changes.length - shown.length }
}

/** A result that says what its view may call. */
export function inPlace(result: ToolResult, place: ViewPlace): ToolResult {
  if (!('body' in result)) return result
  const { 'plinth/view': details } = (result.meta ?? {}) as { 'plinth/view'?: object }
  return { ...result, meta: { ...result.meta, 'plinth/view': { ...place, ...details } } }
}

/** What a view gets beside an answer, as `_meta` of the result. */
export const detailsFor = (answer: object): { 'plinth/view'?: object } => {
  const details = DETAILS.get(answer)
  return details ? { 'plinth/view': details } : {}
}
