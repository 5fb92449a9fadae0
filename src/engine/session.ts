import type { Access } from './access.ts'

/** A token as requests are checked against it. */
export type Session = { tokenId: string; name: string; access: Access; expiresAt: Date | null }
