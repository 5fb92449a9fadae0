import pg from 'pg'

/** Type parsers that return timestamps in API format. */
export const TIMES_AS_TEXT = parsing({ [pg.types.builtins.TIMESTAMPTZ]: utc })
/** Type parsers that also return JSON as text. */
export const TIMES_AND_JSON_AS_TEXT = parsing({
  [pg.types.builtins.TIMESTAMPTZ]: utc,
  [pg.types.builtins.JSONB]: (text) => text,
})

function parsing(own: Record<number, (text: string) => string>): pg.CustomTypesConfig {
  return {
    getTypeParser: (type: number, format?: 'text' | 'binary') =>
      own[type] ?? (pg.types.getTypeParser(type, format as 'text') as never),
  }
}

type Time = { readonly text: string; readonly shown: string }
/** Cache of the last two parsed timestamps: rows of one write share them. */
let last: Time = { text: '', shown: '' }
let before = last

/** Formats `2026-01-31 09:30:00.5+00` as `2026-01-31T09:30:00.500Z`. */
function utc(text: string): string {
  if (text === last.text) return last.shown
  const found = text === before.text ? before : { text, shown: shownTime(text) }
  before = last
  last = found
  return found.shown
}

function shownTime(text: string): string {
  if (text.length === 26 && text.endsWith('+00')) return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
  if (!text.endsWith('+00') || text.length > 26) return new Date(text).toISOString()
  const fraction = text.slice(20, -3).padEnd(3, '0')
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`
}
