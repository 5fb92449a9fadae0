export { completeClaim, heartbeatClaim, releaseClaim } from './acts.ts'
export { type ClaimedRecords, claimRecords } from './claim.ts'
export type { Claim } from './hold.ts'
export { getClaim, listClaims } from './list.ts'
