/** Checks an export as a whole, before anything of it is written: its members, their order and digests, and each line. */
import { createHash, type Hash } from 'node:crypto'
import type { z } from 'zod'
import { check } from '../../../contract/validate.ts'
import { withPaths } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { parseJson, parseLargeJson, pointer } from '../../../json/parse.ts'
import { type ConfigFile, readConfig } from '../read-config.ts'
import { LineChecks } from './check-lines.ts'
import { linesOf, wholeOf } from './lines.ts'
import {
  type About,
  AboutShape,
  type Ended,
  EndShape,
  kindOf,
  type Line,
  MEMBERS,
  type MemberKind,
  SINGLE,
} from './members.ts'
import { type Member, notAnExport, readMembers } from './tar.ts'

/** What an export holds, once it is known to be whole. */
export type CheckedFile = {
  readonly about: About
  readonly config: ConfigFile
  readonly counts: Readonly<Record<string, number>>
  /** Names for other systems that record types had, by their id. */
  readonly names: ReadonlyMap<string, object>
  /** Entries of the log that others name as their cause. */
  readonly causes: ReadonlySet<number>
}

const ORDER = Object.keys(MEMBERS) as MemberKind[]

/** @throws VALIDATION_ERROR that names the first fault */
export async function checkFile(source: AsyncIterable<Buffer>): Promise<CheckedFile> {
  const file = new FileCheck()
  for await (const member of readMembers(source)) await file.take(member)
  return file.end()
}

class FileCheck {
  readonly #seen: Ended['members'] = []
  #last: { kind: MemberKind; id: string } | undefined
  #about: About | undefined
  #config: ConfigFile | undefined
  #lines: LineChecks | undefined
  #contents = 0
  #contentBytes = 0
  #ended: Ended | undefined

  async take(member: Member): Promise<void> {
    const { name, size } = member
    const found = kindOf(name)
    if (!found) throw notAnExport(`/${name}`, 'unknown_member', 'The file has a member that no export has.')
    const { kind, id } = found
    this.#requireOrder(kind, id, name)
    if (kind === 'contents') return this.#content(id, member)
    const hash = createHash('sha256')
    const bytes = hashed(member.bytes, hash)
    let lines: number | undefined
    if (kind === 'about') this.#about = await this.#document(AboutShape, name, size, bytes)
    else if (kind === 'end') this.#ended = await this.#document(EndShape, name, size, bytes)
    else if (kind === 'config') await this.#readConfig(await wholeOf(name, size, bytes))
    else lines = await this.#readLines(kind, id, name, bytes)
    if (kind !== 'end')
      this.#seen.push({
        name,
        bytes: size,
        ...(lines !== undefined && { lines }),
        sha256: hash.digest('hex'),
      })
  }

  /** @throws VALIDATION_ERROR unless the file is whole: its end names each member as it is */
  end(): CheckedFile {
    const [about, config, lines, ended] = [this.#about, this.#config, this.#lines, this.#ended]
    if (!about || !config || !lines || !ended)
      throw notAnExport('/', 'cut', 'The file is not complete: it has no end.json.')
    for (const [n, seen] of this.#seen.entries())
      if (JSON.stringify(seen) !== JSON.stringify(ended.members[n]))
        throw notAnExport(`/${seen.name}`, 'digest_mismatch', 'The member is not the one that was exported.')
    const missing = ended.members[this.#seen.length]
    if (missing) throw notAnExport(`/${missing.name}`, 'missing_member', 'The member is missing.')
    if (ended.contents !== this.#contents)
      throw notAnExport('/contents', 'missing_member', 'Contents are missing.')
    lines.requireContents(this.#contents)
    const counts = { ...lines.counts, contents: this.#contents, content_bytes: this.#contentBytes }
    return { about, config, counts, names: lines.names, causes: lines.causes }
  }

  #requireOrder(kind: MemberKind, id: string, name: string): void {
    const [at, before] = [ORDER.indexOf(kind), this.#last ? ORDER.indexOf(this.#last.kind) : -1]
    const isAfter =
      at > before ||
      (at === before && !SINGLE.includes(kind) && this.#last !== undefined && id > this.#last.id)
    const between = ORDER.slice(before + 1, at).filter((each) => SINGLE.includes(each))
    if (!isAfter || between.length > 0)
      throw notAnExport(`/${name}`, 'invalid_order', 'The members are not in the order of an export.')
    this.#last = { kind, id }
  }

  async #document<S extends z.ZodType>(
    shape: S,
    name: string,
    size: number,
    bytes: AsyncIterable<Buffer>,
  ): Promise<z.output<S>> {
    const value = await parseLargeJson(await wholeOf(name, size, bytes))
    return check(shape, value, (path) => `/${name}${pointer(...path.map(String))}`)
  }

  async #readConfig(bytes: Buffer): Promise<void> {
    const value = await parseLargeJson(bytes)
    this.#config = await readConfig(value, this.#about?.base.id ?? '').catch((thrown: unknown) => {
      throw withPaths(thrown, (path) => `/config.yaml${path}`)
    })
    this.#lines = new LineChecks(this.#config.resources)
  }

  async #readLines(
    kind: Exclude<MemberKind, 'about' | 'config' | 'contents' | 'end'>,
    id: string,
    name: string,
    bytes: AsyncIterable<Buffer>,
  ): Promise<number> {
    const checks = this.#lines
    if (!checks) throw notAnExport(`/${name}`, 'invalid_order', 'The configuration is missing.')
    checks.open(kind, id, name)
    const shape = MEMBERS[kind].line
    let count = 0
    for await (const line of linesOf(name, bytes)) {
      if (turnIsOver()) await nextTurn()
      const at = `/${name}/${++count}`
      const value = parseJson(line, at)
      checks.take(check(shape, value, (path) => `${at}${pointer(...path.map(String))}`) as Line, at)
    }
    checks.close()
    return count
  }

  async #content(sha256: string, { name, size, bytes }: Member): Promise<void> {
    this.#lines?.requireNamed(sha256, size, `/${name}`)
    const hash = createHash('sha256')
    for await (const chunk of bytes) hash.update(chunk)
    if (hash.digest('hex') !== sha256)
      throw notAnExport(`/${name}`, 'digest_mismatch', 'The content is not the one that was exported.')
    this.#contents++
    this.#contentBytes += size
  }
}

async function* hashed(bytes: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}
