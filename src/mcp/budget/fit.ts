/** Fits results to `max_tokens`. */
import { LIMITS } from '../../foundation/limits.ts'
import { RowCursors, valuesOf } from '../../json/rows.ts'
import { type Content, type Shape, type ShowsRecords, success, type ToolResult } from '../protocol/result.ts'
import { type Body, type Nature, ReadResult, type Row } from './read-result.ts'
import { shrink, shrinkParts, sizeOf } from './truncate-json.ts'

/**
 * Fits a result to at most `asked` tokens, or its own limit. Drops rows from the end and adjusts the cursor. Truncates values that
 * are too long for any page, lists their paths in `truncated`, and links to the full record.
 */
export async function fitted(
  reading: ReadResult,
  asked: number | undefined,
  showsRecords: ShowsRecords,
  shape?: Shape,
): Promise<ToolResult> {
  const tokens = asked ?? reading.nature.tokens ?? LIMITS.answerTokens
  const body = plain(reading.body)
  const links = reading.nature.links ?? []
  const whole = { ...success(body, showsRecords, shape), ...(links.length > 0 && { content: links }) }
  const maxBytes = tokens * BYTES_OF_TOKEN
  let over = excess(whole, maxBytes)
  if (over <= 0) return whole
  if (reading.nature.ifCut) return fitted(await reading.nature.ifCut(), asked, showsRecords, shape)
  const kept = sizeOf(Array.isArray(body.data) ? body.data : body)
  // The truncation notes take space too, and their size is known only after the cut. Retry until everything
  // fits.
  let left = kept - over - SAID_BYTES
  for (let tries = 0; ; tries++) {
    const cut = cutTo(new ReadResult(body, reading.nature), Math.max(left, 0), tokens)
    const result = { ...success(cut.body, showsRecords, shape), content: [...cut.links, ...links] }
    over = excess(result, maxBytes)
    if (over <= 0 || left <= 0 || tries === LIMITS.fitTries) return result
    left -= over
  }
}

const SAID_BYTES = 200

const excess = (result: ToolResult, maxBytes: number) =>
  'text' in result ? Buffer.byteLength(result.text) - maxBytes : 0

const plain = (body: Body): Body => (body.data === undefined ? body : { ...body, data: valuesOf(body.data) })

export const BYTES_OF_TOKEN = 4

/** Estimates the tokens of a value as JSON: UTF-8 bytes / 4. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / BYTES_OF_TOKEN)
}

/** A truncated result, and links to the full versions of what it truncates. */
type Cut = { body: object; links: Content[] }

/** Truncates a result to about `room` bytes. `tokens` is the requested limit, for the hint. */
function cutTo(reading: ReadResult, maxBytes: number, tokens: number): Cut {
  if (reading.nature.cuttable) return cutParts(reading, maxBytes, tokens)
  return Array.isArray(reading.body.data)
    ? cutRows(reading, maxBytes, tokens)
    : cutOne(reading, maxBytes, tokens)
}

/** Truncates the longest parts of a single object. */
function cutOne({ body, nature }: ReadResult, maxBytes: number, tokens: number): Cut {
  const truncated: string[] = []
  const rest = shrink({ value: body, path: '' }, maxBytes, truncated) as object
  const links = linksTo([body as Row], nature)
  return { body: { ...rest, truncated: listed(truncated), hint: hintOf(truncated, tokens, links) }, links }
}

/** Keeps as many leading rows as fit. Truncates a row that exceeds a page, to leave space for others. */
function cutRows({ body, nature }: ReadResult, maxBytes: number, tokens: number): Cut {
  const rows = body.data as Row[]
  const truncated: string[] = []
  const kept: Row[] = []
  const cut: Row[] = []
  let left = maxBytes - '[]'.length
  for (const [index, row] of rows.entries()) {
    const mayTake =
      sizeOf(row) <= maxBytes || rows.length === 1 ? maxBytes : Math.floor(maxBytes / LIMITS.longRowsMin)
    const cuts: string[] = []
    const most = Math.min(mayTake - '[]'.length, nature.rowBytes ?? maxBytes)
    const shown = shrink({ value: row, path: `/data/${index}` }, most, cuts) as Row
    left -= sizeOf(shown) + ','.length + cuts.reduce((sum, path) => sum + sizeOf(path) + ','.length, 0)
    if (left < 0 && kept.length > 0) break
    kept.push(shown)
    truncated.push(...cuts)
    if (cuts.length > 0) cut.push(row)
  }
  const links = linksTo(cut, nature)
  const hint = hintOf(truncated, tokens, links)
  return {
    body: { ...body, data: kept, meta: metaOf(body, nature, kept.length, truncated, hint, tokens) },
    links,
  }
}

/** Keeps every row and truncates only the parts that may be cut. */
function cutParts({ body, nature }: ReadResult, maxBytes: number, tokens: number): Cut {
  const copy = structuredClone(body)
  const parts = nature.cuttable?.(copy) ?? []
  const truncated: string[] = []
  const others = sizeOf(copy.data) - parts.reduce((sum, { value }) => sum + sizeOf(value), 0)
  const values = shrinkParts(parts, maxBytes - others, truncated)
  for (const [i, part] of parts.entries()) part.put(values[i])
  const rows = copy.data as Row[]
  const cut = rows.filter((_, index) => truncated.some((path) => path.startsWith(`/data/${index}/`)))
  const links = linksTo(cut, nature)
  const hint = hintOf(truncated, tokens, links)
  return { body: { ...copy, meta: metaOf(copy, nature, rows.length, truncated, hint, tokens) }, links }
}

function metaOf(
  body: Body,
  nature: Nature,
  kept: number,
  truncated: readonly string[],
  ofCuts: string,
  tokens: number,
): Row {
  const rows = body.data as Row[]
  const { cursors, onward } = nature
  const meta = body.meta ?? {}
  const hint = [
    meta['hint'],
    kept < rows.length ? `${kept} of ${rows.length} rows fit into max_tokens ${tokens}. ${onward ?? ''}` : '',
    ofCuts,
  ]
  return {
    ...meta,
    ...(kept < rows.length && {
      has_more: true,
      ...(typeof meta['rows'] === 'number' && { rows: kept }),
      ...(cursors instanceof RowCursors
        ? { next_cursor: cursors.after(kept - 1) }
        : typeof meta['offset'] === 'number' && { next_offset: meta['offset'] + kept }),
      ...nature.goOn?.(rows[kept - 1] ?? {}),
    }),
    ...(truncated.length > 0 && { truncated: listed(truncated) }),
    hint: hint.filter(Boolean).join(' ').trim(),
  }
}

/** Caps the listed paths. The hint has the number of the others. */
const listed = (paths: readonly string[]) => paths.slice(0, LIMITS.truncatedPaths)

/** Hint on how to get the truncated values; empty if there are none. */
function hintOf(truncated: readonly string[], tokens: number, links: readonly Content[]): string {
  if (truncated.length === 0) return ''
  const more = truncated.length - LIMITS.truncatedPaths
  const orRead = links.length > 0 ? ', or read the linked resource' : ''
  return `What truncated names${more > 0 ? ` and ${more} more` : ''} was cut to max_tokens ${tokens}: send a larger one${orRead}.`
}

/** Resource links to the full rows. */
function linksTo(rows: readonly Row[], { uriOf }: Nature): Content[] {
  return rows.slice(0, LIMITS.truncatedPaths).flatMap((row) => {
    const uri = uriOf?.(row)
    const name = decodeURIComponent(uri?.slice(uri.lastIndexOf('/') + 1) ?? '')
    return uri === undefined ? [] : [{ type: 'resource_link', uri, name, mimeType: 'application/json' }]
  })
}
