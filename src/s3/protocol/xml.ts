/** XML of S3: writes responses, and reads the two kinds of bodies that requests have. */
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { S3Fault } from './fault.ts'

/** An element: its name, and its text or its children. One without content is left out. */
export type Element = readonly [name: string, content: Content]
type Content = string | number | boolean | undefined | readonly Element[]

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
  '\n': '&#10;',
}
/** Characters that XML 1.0 cannot have, in no form. */
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu
const escaped = (text: string): string =>
  text.replace(NOT_IN_XML, '\ufffd').replace(/[&<>"\r\n]/g, (found) => ESCAPES[found] ?? found)

const written = ([name, content]: Element): string => {
  if (content === undefined) return ''
  const inner = typeof content === 'object' ? content.map(written).join('') : escaped(String(content))
  return `<${name}>${inner}</${name}>`
}

/** A document in the namespace of S3; errors are in none. */
export function document([name, content]: Element, isError = false): string {
  const body = written([name, content])
  const root = isError ? body : body.replace(`<${name}>`, `<${name} xmlns="${NAMESPACE}">`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}`
}

/** The body of a request: texts directly in the root, and the texts of each of its items. */
export type List = { root: Map<string, string>; items: Map<string, string>[] }

/**
 * Reads a body of the form `<root><item><name>text</name></item> <name>text</name></root>`. It is parsed as it
 * arrives, without entities of its own.
 * @throws S3Fault MalformedXML
 */
export async function readList(
  body: AsyncIterable<Buffer>,
  root: string,
  item: string,
  mostItems: number,
): Promise<List> {
  const { default: sax } = await import('sax')
  const parser = sax.parser(true, { xmlns: false, position: false })
  const list: List = { root: new Map(), items: [] }
  const path: string[] = []
  let text = ''
  const refuse = (why: string): never => {
    throw new S3Fault('MalformedXML', `The XML is not well-formed or has another form: ${why}.`)
  }
  parser.onerror = (error) => refuse(error.message.split('\n', 1)[0] ?? '')
  parser.ondoctype = () => refuse('a DOCTYPE is not allowed')
  parser.onopentag = ({ name }) => {
    path.push(name)
    text = ''
    if (path[0] !== root) refuse(`the root is ${root}`)
    if (path.length > 3) refuse('it is nested too deep')
    if (path.length === 2 && name === item && list.items.push(new Map()) > mostItems)
      refuse(`it has more than ${mostItems} items`)
  }
  const read = (more: string) => {
    text += more
  }
  parser.ontext = read
  parser.oncdata = read
  parser.onclosetag = () => {
    const name = path.pop() ?? ''
    if (text.includes('\0')) refuse(`${name} has a NUL`)
    if (path.length === 2 && path[1] === item) list.items.at(-1)?.set(name, text)
    if (path.length === 1 && name !== item) list.root.set(name, text)
    text = ''
  }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let bytes = 0
  let isOpen = false
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > LIMITS.s3XmlBytes) refuse(`it has more than ${LIMITS.s3XmlBytes} bytes`)
    for (let at = 0; at < chunk.length; at += LIMITS.s3XmlBytesAtOnce) {
      if (turnIsOver()) await nextTurn()
      parser.write(decoded(decoder, chunk.subarray(at, at + LIMITS.s3XmlBytesAtOnce), refuse))
    }
    isOpen = true
  }
  if (!isOpen) refuse('it is empty')
  parser.write(decoded(decoder, undefined, refuse)).close()
  return list
}

function decoded(decoder: TextDecoder, chunk: Buffer | undefined, refuse: (why: string) => never): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
  } catch {
    return refuse('it is not UTF-8')
  }
}
