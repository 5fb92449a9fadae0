/** Checks the lines of an export against the configuration in it, and against each other as far as their order allows. */
import { invalid, withPaths } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Definition } from '../../configuration/lifecycle/definition.ts'
import { isAmong } from '../../schema/compiled-types/compiled-relationship-type.ts'
import { type CompiledSchema, compileSchema } from '../../schema/json-schema/compile.ts'
import type { Snapshot } from '../snapshot.ts'
import {
  type AttachmentLine,
  type ChangeLine,
  entryIn,
  type FileLine,
  type Line,
  type LinkLine,
  type MemberKind,
  type RecordLine,
} from './members.ts'
import { notAnExport } from './tar.ts'

type FileHead = Extract<FileLine, { id: string }>
type FileVersion = Extract<FileLine, { file_id: string }>

export class LineChecks {
  readonly counts = { records: 0, relationships: 0, files: 0, attachments: 0, changes: 0 }
  readonly names = new Map<string, object>()
  readonly causes = new Set<number>()
  readonly #config: Snapshot
  /** Sizes of the contents that lines name, by digest. */
  readonly #contents = new Map<string, number>()
  #kind: MemberKind = 'about'
  #member = ''
  #definition: Definition | undefined
  #schema: CompiledSchema | undefined
  #lastKey: string | number | undefined
  #file: (FileHead & { isFound: boolean; lastVersion: number }) | undefined

  constructor(config: Snapshot) {
    this.#config = config
  }

  /** Begins a member. @throws VALIDATION_ERROR for one of a type that the configuration does not have */
  open(kind: MemberKind, id: string, member: string): void {
    const type = { records: 'record_type', relationships: 'relationship_type', files: 'file_type' }[
      kind as string
    ]
    this.#definition = type === undefined ? undefined : this.#config.get(type)?.get(id)
    if (type !== undefined && type !== 'file_type' && !this.#definition)
      throw notAnExport(`/${member}`, 'unknown_type', 'The configuration of the file has no such type.')
    const schema = kind === 'records' ? 'json_schema' : kind === 'relationships' ? 'data_schema' : undefined
    this.#schema = schema && this.#definition && compileSchema(this.#definition[schema] ?? {}, `/${schema}`)
    this.#kind = kind
    this.#member = member
    this.#lastKey = undefined
    this.#file = undefined
  }

  /** @throws VALIDATION_ERROR */
  take(line: Line, at: string): void {
    switch (this.#kind) {
      case 'records':
        this.#record(line as RecordLine, at)
        break
      case 'relationships':
        this.#link(line as LinkLine, at)
        break
      case 'files':
        if ('id' in line) this.#fileHead(line as FileHead, at)
        else this.#version(line as FileVersion, at)
        break
      case 'attachments':
        this.#attachment(line as AttachmentLine, at)
        break
      default:
        this.#change(line as ChangeLine, at)
    }
  }

  /** Ends a member, or a file in it. @throws VALIDATION_ERROR if the file lacks its version */
  close(): void {
    if (this.#file && !this.#file.isFound)
      throw notAnExport(
        `/${this.#member}`,
        'missing_version',
        `The file "${this.#file.path}" lacks its version.`,
      )
    this.#file = undefined
  }

  /** @throws VALIDATION_ERROR for a content that no line names, or names with another size */
  requireNamed(sha256: string, size: number, at: string): void {
    if (this.#contents.get(sha256) !== size)
      throw notAnExport(at, 'unknown_member', 'No file and no attachment of the export has this content.')
  }

  /** @throws VALIDATION_ERROR if contents are missing that lines name */
  requireContents(count: number): void {
    if (count !== this.#contents.size)
      throw notAnExport('/contents', 'missing_member', 'Contents are missing that files or attachments have.')
  }

  #record(line: RecordLine, at: string): void {
    this.#next(line.id, at)
    this.#requireValid(line, at)
    this.counts.records++
  }

  #link(line: LinkLine, at: string): void {
    this.#next(line.id, at)
    const ends = [
      ['source_record_type', 'source_record_types'],
      ['target_record_type', 'target_record_types'],
    ] as const
    for (const [end, allowed] of ends)
      if (!isAmong(line[end], (this.#definition?.[allowed] as string[] | undefined) ?? ['*']))
        throw notAnExport(
          `${at}/${end}`,
          'invalid_end',
          'The relationship type does not allow this record type.',
        )
    this.#requireValid(line, at)
    this.counts.relationships++
  }

  #fileHead(line: FileHead, at: string): void {
    this.close()
    this.#next(line.id, at)
    if (!this.#definition && line.deleted_at === null)
      throw notAnExport(at, 'unknown_type', 'The configuration of the file has no such file type.')
    this.#file = { ...line, isFound: false, lastVersion: 0 }
    this.counts.files++
  }

  #version(line: FileVersion, at: string): void {
    const file = this.#file
    if (!file || file.id !== line.file_id || line.version <= file.lastVersion || line.version > file.version)
      throw notAnExport(at, 'invalid_order', 'The version is not of the file before it, or not in order.')
    file.lastVersion = line.version
    this.#name(line.content_sha256, line.size, at)
    if (line.version !== file.version) return
    if (line.content_sha256 !== file.content_sha256 || line.size !== file.size)
      throw notAnExport(at, 'invalid_version', 'The file has another content than its version.')
    file.isFound = true
  }

  #attachment(line: AttachmentLine, at: string): void {
    this.#next(line.id, at)
    this.#name(line.sha256, line.size, at)
    this.counts.attachments++
  }

  #change(line: ChangeLine, at: string): void {
    this.#next(line.seq, at)
    const cause = entryIn(line.cause)
    if (cause !== undefined) this.causes.add(cause)
    if (line.kind === 'record_type' && line.data) {
      const { portableId, graphqlName } = line.data
      this.names.set(line.id, { portableId, graphqlName })
    }
    this.counts.changes++
  }

  #next(key: string | number, at: string): void {
    if (this.#lastKey !== undefined && key <= this.#lastKey)
      throw notAnExport(
        at,
        key === this.#lastKey ? 'duplicate' : 'invalid_order',
        key === this.#lastKey ? 'An id is there twice.' : 'The lines are not in the order of an export.',
      )
    this.#lastKey = key
  }

  /** What was not valid at its source may stay so, as after a change of the schema. */
  #requireValid({ valid, data }: { valid: boolean; data: unknown }, at: string): void {
    if (!valid || !this.#schema || this.#schema.isValid(data)) return
    const [fault, ...more] = this.#schema.validate(data, '/data')
    if (fault) throw withPaths(invalid(fault, ...more), (path) => `${at}${path}`)
    throw notAnExport(at, 'too_complex', 'The schema of the type takes too long for this.')
  }

  #name(sha256: string, size: number, at: string): void {
    const known = this.#contents.get(sha256)
    if (known !== undefined && known !== size)
      throw notAnExport(at, 'invalid_size', 'The content has another size elsewhere in the file.')
    this.#contents.set(sha256, size)
    if (this.#contents.size > LIMITS.importedContents)
      throw notAnExport(at, 'too_many', `A file can have at most ${LIMITS.importedContents} contents.`)
  }
}
