export { actOnClaims, type ClaimOutcome, completeClaim, heartbeatClaim, releaseClaim } from './actions.ts'
export { type ClaimArgs, type ClaimedRecords, claimRecords } from './claim.ts'
export { findClaim } from './claim-guard.ts'
export { activeClaimsOf, claimView, getClaim, listClaims } from './list.ts'
