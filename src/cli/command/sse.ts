export type ServerEvent = { data: string; id: string | undefined }

/**
 * Parses a `text/event-stream` body. Yields the events with data or an id. Source: WHATWG HTML, "Interpreting
 * an event stream".
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let data: string[] = []
  let id: string | undefined
  let isNamed = false
  for await (const line of readLines(body)) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'data') data.push(value)
    else if (field === 'id') [id, isNamed] = [value, true]
    else if (line === '') {
      if (data.length > 0 || isNamed) yield { data: data.join('\n'), id }
      data = []
      isNamed = false
    }
  }
}

/** Splits lines at CR LF, LF or CR, including a CR LF that spans two chunks. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let buffered: string[] = []
  let afterReturn = false
  for await (const chunk of body) {
    let text = decoder.decode(chunk, { stream: true })
    if (afterReturn && text.startsWith('\n')) text = text.slice(1)
    if (text === '') continue
    afterReturn = text.endsWith('\r')
    const [first = '', ...rest] = text.split(/\r\n|\n|\r/)
    buffered.push(first)
    for (const next of rest) {
      yield buffered.join('')
      buffered = [next]
    }
  }
}
