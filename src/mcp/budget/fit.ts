import { valuesOf } from '../../json/rows.ts'
import { type ShowsRecords, success, type ToolResult } from '../protocol/result.ts'
import { type Body, Reading } from './read-result.ts'
import { BYTES_OF_TOKEN } from './token-estimate.ts'
import { sizeOf } from './truncate-json.ts'
import { cutTo } from './truncate-rows.ts'

/**
 * What was read, in a text of at most `tokens`. Rows that have no room are left out from the end, and the list goes on
 * behind the last one kept; what is too long for any page is cut, named in `truncated` and linked to.
 */
export function fitted(reading: Reading, tokens: number, showsRecords: ShowsRecords): ToolResult {
  const body = plain(reading.body)
  const whole = success(body, showsRecords)
  const room = tokens * BYTES_OF_TOKEN
  let over = excess(whole, room)
  if (over <= 0) return whole
  const kept = sizeOf(Array.isArray(body.data) ? body.data : body)
  // What is said of the cuts takes room as well, and how much is known when it is said.
  let left = kept - over - SAID_BYTES
  for (let tries = 0; ; tries++) {
    const cut = cutTo(new Reading(body, reading.nature), Math.max(left, 0), tokens)
    const result = { ...success(cut.body, showsRecords), content: cut.links }
    over = excess(result, room)
    if (over <= 0 || left <= 0 || tries === TRIES) return result
    left -= over
  }
}

const SAID_BYTES = 200
const TRIES = 10

const excess = (result: ToolResult, room: number) =>
  'text' in result ? Buffer.byteLength(result.text) - room : 0

const plain = (body: Body): Body => (body.data === undefined ? body : { ...body, data: valuesOf(body.data) })
