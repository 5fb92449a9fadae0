import type { A_Indirection, CollateClause, Node, SelectStmt } from '@pgsql/types'
import type { ScanToken } from 'libpg-query'
import type { Deparser as Base } from 'pgsql-deparser'

import { quoteName } from './names.ts'

type Context = Parameters<Base['A_Indirection']>[1]

/** PostgreSQL's parser, and the printer of its trees. */
export type Parser = {
  /** Parses a text into statements; throws the parser's error. */
  parse(text: string): readonly Node[]
  /** Tokenizes a text, with byte offsets; throws for an unterminated token. */
  scan(text: string): readonly ScanToken[]
  /** Fingerprint of a valid statement, without constants. */
  fingerprint(text: string): string
  /** Prints a tree; throws for an unsupported node. */
  print(statement: SelectStmt): string
}

let loaded: Promise<Parser> | undefined

/** Lazy loading on the first statement: its WebAssembly and tables cost 100 ms and 20 MB. */
export function loadParser(): Promise<Parser> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Parser> {
  const [library, { Deparser }] = await Promise.all([import('libpg-query'), import('pgsql-deparser')])
  await library.loadModule()
  // Adds the parentheses that `(ARRAY[1, 2])[1]` needs and the library omits.
  class Printer extends Deparser {
    override A_Indirection({ arg, indirection = [] }: A_Indirection, context: Context): string {
      const steps = indirection.map((step) => this.visit(step, context))
      return `(${arg ? this.visit(arg, context) : ''})${steps.join('')}`
    }
    // Adds the parentheses of `(a || b) COLLATE "C"`.
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
