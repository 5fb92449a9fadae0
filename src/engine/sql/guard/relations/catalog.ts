/** What a statement may read: the record types of one base that the token may read. */
export type Catalog = {
  baseId: string
  /** Whether the token may read every type of the base; the list still names the existing ones. */
  readsAll: boolean
  /** Whether it is read in a change-set, whose records and relationships have views of their own. */
  readsDrafts: boolean
  /** The token, whose own tool calls a reader of a part of the base may read. */
  tokenId: string | null
  types: readonly { id: string; timezone: string; jsonSchema: unknown }[]
}
