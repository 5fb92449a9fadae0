/** Lists that are read page by page. */
export type Page<Item> = {
  data: Item[]
  meta: { has_more: boolean; next_cursor?: string; total?: number; hint?: string }
}

/** The items of a list, over all its pages: `for await (const item of list)`. */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data
  }

  /** The pages as the server sends them. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.#read(cursor)
      yield page
      cursor = page.meta.next_cursor
      if (!page.meta.has_more || cursor === undefined) return
    }
  }

  /** The first page. */
  page(): Promise<Page<Item>> {
    return this.#read(undefined)
  }

  /** The first item; undefined if there is none. */
  async first(): Promise<Item | undefined> {
    return (await this.page()).data[0]
  }

  /** All items, or the first ones. */
  async all(most = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const found: Item[] = []
    for await (const item of this) {
      if (found.length >= most) break
      found.push(item)
    }
    return found
  }
}
