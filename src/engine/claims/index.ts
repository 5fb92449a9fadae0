export { actOnClaims, type ClaimOutcome, completeClaim, heartbeatClaim, releaseClaim } from './actions.ts'
export { type ClaimedRecords, claimRecords } from './claim.ts'
export type { Claim } from './claim-guard.ts'
export { getClaim, listClaims } from './list.ts'
