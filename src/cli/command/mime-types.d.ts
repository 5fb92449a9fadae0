declare module 'mime-types' {
  /** The media type of a suffix such as `.txt`; false for one that is not known. */
  export function lookup(suffix: string): string | false
}
