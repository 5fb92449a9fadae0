/** Fits results to `max_tokens`. */
import { LIMITS } from '../../foundation/limits.ts'
import { valuesOf } from '../../json/rows.ts'
import { type Shape, type ShowsRecords, success, type ToolResult } from '../protocol/result.ts'
import { type Body, ReadResult } from './read-result.ts'
import { sizeOf } from './truncate-json.ts'
import { cutTo } from './truncate-rows.ts'

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
    if (over <= 0 || left <= 0 || tries === TRIES) return result
    left -= over
  }
}

const SAID_BYTES = 200
const TRIES = 10

const excess = (result: ToolResult, maxBytes: number) =>
  'text' in result ? Buffer.byteLength(result.text) - maxBytes : 0

const plain = (body: Body): Body => (body.data === undefined ? body : { ...body, data: valuesOf(body.data) })

export const BYTES_OF_TOKEN = 4

/** Estimates the tokens of a value as JSON: UTF-8 bytes / 4. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / BYTES_OF_TOKEN)
}
