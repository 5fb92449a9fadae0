/** Names of WAL: segments, their order, and where they are in a place of backups. */
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import type { Manifest } from './manifest.ts'
import { Missing, type Place } from './place.ts'

/** A whole segment, or the history of a timeline. */
export const ARCHIVED = /^([0-9A-F]{24}|[0-9A-F]{8}\.history)$/
const SEGMENT = /^[0-9A-F]{24}$/

const folderOf = (line: string): string => `wal/${line}/`
export const storedName = (line: string, file: string): string => `${folderOf(line)}${file}.zst`

/** The segment after this one. */
export function nextSegment(name: string, segmentBytes: number): string {
  const perLog = 2 ** 32 / segmentBytes
  const log = Number.parseInt(name.slice(8, 16), 16)
  const segment = Number.parseInt(name.slice(16), 16)
  const next = log * perLog + segment + 1
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0')
  return name.slice(0, 8) + hex(Math.floor(next / perLog)) + hex(next % perLog)
}

/** The files of a line that a place has, in order. */
async function archivedFiles(place: Place, line: string): Promise<string[]> {
  const found: string[] = []
  for await (const { name } of place.list(folderOf(line))) {
    const file = name.slice(folderOf(line).length).replace(/\.zst$/, '')
    if (ARCHIVED.test(file)) found.push(file)
  }
  return found.sort()
}

/** The last segment of a line that a place has. */
export const lastSegment = async (place: Place, line: string): Promise<string | undefined> =>
  (await archivedFiles(place, line)).findLast((file) => SEGMENT.test(file))

type Chain = {
  segments: string[]
  /** The histories of timelines. */
  histories: string[]
  /** The first that is missing though there are, or were, later ones. */
  missing: string | undefined
  until: Until | undefined
}

/** The WAL that a backup can be recovered with. */
export async function chainOf(place: Place, backup: Manifest): Promise<Chain> {
  const { line, start_segment: first, stop_segment: stop, segment_bytes: segmentBytes } = backup
  const until = await readUntil(place, line)
  const files = await archivedFiles(place, line)
  const found = files.filter(
    (file) => SEGMENT.test(file) && file.slice(0, 8) === first.slice(0, 8) && file >= first,
  )
  const there = new Set(found)
  const segments: string[] = []
  let next = first
  for (; there.has(next); next = nextSegment(next, segmentBytes)) segments.push(next)
  const last = [stop, until?.segment ?? stop, found.at(-1) ?? stop].sort().at(-1) ?? stop
  const histories = files.filter((file) => file.endsWith('.history'))
  return { segments, histories, missing: next <= last ? next : undefined, until }
}

/** All that was acknowledged before the moment is in segments up to this one. */
export type Until = { at: string; segment: string }

export const writeUntil = (place: Place, line: string, until: Until): Promise<unknown> =>
  place.write(`${folderOf(line)}until.json`, Readable.from([`${JSON.stringify(until)}\n`]))

/** Up to where a line has everything; undefined before its first backup. */
export async function readUntil(place: Place, line: string): Promise<Until | undefined> {
  try {
    return (await json(await place.read(`${folderOf(line)}until.json`))) as Until
  } catch (error) {
    if (error instanceof Missing || error instanceof SyntaxError) return undefined
    throw error
  }
}
