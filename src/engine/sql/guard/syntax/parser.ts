import type { A_Indirection, CollateClause, Node, SelectStmt } from '@pgsql/types'
import type { ScanToken } from 'libpg-query'
import type { Deparser as Base } from 'pgsql-deparser'

import { quoteName } from './names.ts'

type Context = Parameters<Base['A_Indirection']>[1]

/** The parser of the server's own grammar, and the printer of its trees. */
export type Parser = {
  /** The statements of a text as trees; throws what the parser throws. */
  parse(text: string): readonly Node[]
  /** The tokens of a text, with offsets in bytes; throws on an unfinished one. */
  scan(text: string): readonly ScanToken[]
  /** The shape of a statement that parses, with its constants taken out. */
  fingerprint(text: string): string
  /** The text of a tree; throws on what it cannot print. */
  print(statement: SelectStmt): string
}

let loaded: Promise<Parser> | undefined

/** Loaded at the first statement: its WebAssembly and tables cost 100 ms and 20 MB that a server without SQL never pays. */
export function loadParser(): Promise<Parser> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Parser> {
  const [library, { Deparser }] = await Promise.all([import('libpg-query'), import('pgsql-deparser')])
  await library.loadModule()
  // The library's own leaves out the parentheses that `(ARRAY[1, 2])[1]` needs.
  class Printer extends Deparser {
    override A_Indirection({ arg, indirection = [] }: A_Indirection, context: Context): string {
      const steps = indirection.map((step) => this.visit(step, context))
      return `(${arg ? this.visit(arg, context) : ''})${steps.join('')}`
    }
    // And those of `(a || b) COLLATE "C"`.
    override CollateClause({ arg, collname = [] }: CollateClause, context: Context): string {
      const name = collname
        .map((word) => quoteName('String' in word ? (word.String.sval ?? '') : ''))
        .join('.')
      return `(${arg ? this.visit(arg, context) : ''}) COLLATE ${name}`
    }
  }
  return {
    parse: (text) => (library.parseSync(text).stmts ?? []).map(({ stmt }) => stmt as Node),
    scan: (text) => library.scanSync(text).tokens,
    fingerprint: library.fingerprintSync,
    print: (SelectStmt) => new Printer({ SelectStmt }, { pretty: false }).deparseQuery(),
  }
}
