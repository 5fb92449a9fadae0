import { v7 } from 'uuid'

/** A new id for what the server names: UUIDv7, ordered by time. Source: RFC 9562. */
export const uuidv7 = (): string => v7()
