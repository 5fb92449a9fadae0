/** The files of a base: folders, versions, and what they hold. */
import { useEffect, useState } from 'react'
import { Failure, pathOf, usePages, useRead } from '../../api/queries.ts'
import { request } from '../../api/send.ts'
import type { FileDiff, FileText, FileVersion, Lists, Page, File as StoredFile } from '../../api/shapes.ts'

export type FileType = Lists['file-types']
type Snippets = { _snippets?: { text: string }[] }
export type File = StoredFile & Snippets & { kind?: 'file' }
export type Entry = File | { kind: 'folder'; path: string }

/** The segments of the address of a file; its name is the last one. */
export type FilePath = readonly string[]
export const filePath = (base: string, type: string, path: string): FilePath =>
  [base, 'files', type].concat(path.split('/'))

export const useFileTypes = (base: string) =>
  useRead<Page<FileType>>(pathOf([base, 'file-types'], { limit: 1000 }))

/** The files and folders at a place of a type, or what a search finds in all of it. */
export function useEntries(base: string, type: string, prefix: string, search: string) {
  const path =
    search === ''
      ? pathOf([base, 'files', type], { prefix, depth: 1, limit: 100 })
      : pathOf([base, 'files'], { search, file_type: type, prefix, snippets: true, limit: 100 })
  return usePages<Entry>(path)
}

export const useVersions = (file: FilePath) =>
  useRead<Page<FileVersion>>(pathOf(file, { history: 'true', limit: 100 }))

export const useDiff = (file: FilePath, from: number, to: number) =>
  useRead<FileDiff>(pathOf(file, { diff: 'true', from, to }))

const LINES = 400
export const useText = (file: FilePath, version: number, isText: boolean) =>
  useRead<FileText>(pathOf(file, { version, lines: `1-${LINES}` }), { enabled: isText })

/** A content as an address of this tab, since a frame or an image sends no token. */
export function useContent(
  address: string | undefined,
  onFailure: (of: Failure) => void,
): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (address === undefined) return
    const stop = new AbortController()
    let made: string | undefined
    request('GET', address, undefined, { signal: stop.signal })
      .then((answer) => answer.blob())
      .then((blob) => {
        made = URL.createObjectURL(blob)
        setUrl(made)
      })
      .catch((error: unknown) => error instanceof Failure && onFailure(error))
    return () => {
      stop.abort()
      if (made !== undefined) URL.revokeObjectURL(made)
      setUrl(undefined)
    }
  }, [address, onFailure])
  return url
}
