/**
 * What a row of `plinth.claim` means, as SQL. A record is compared by its version: a claim that is completed or exhausted
 * keeps the record out of the pool only until somebody else changes it.
 */

/** Has `k` been handed out as often as it may be? Null is no. */
const isUsedUp = (most: string): string => `coalesce(k.attempts >= ${most}, false)`

/** Does the claim `k` of the record `r` keep it from being handed out? `most` is a bound of the attempts; null for none. */
export const keepsOut = (most: string): string => `CASE WHEN k.status = 'completed' THEN k.version = r.version
     WHEN k.status = 'held' AND k.expires_at > now() THEN true
     ELSE k.version = r.version AND ${isUsedUp(`least(k.max_attempts, ${most})`)} END`

/** How often the record `r` was handed out before, for the sake of the work that the claim `k` was about. */
export const attemptsBefore = (most: string): string => `CASE WHEN k.status = 'completed'
     OR (k.version <> r.version AND ${isUsedUp(`least(k.max_attempts, ${most})`)}) THEN 0 ELSE k.attempts END`

/** The status of the claim `k` of the record `r` as it is shown; null when the claim is lost. */
export const STATUS = `CASE WHEN k.row_no IS NULL THEN NULL
     WHEN k.status = 'completed' THEN CASE WHEN k.version = r.version THEN 'completed' END
     WHEN k.status = 'held' AND k.expires_at > now() THEN 'active'
     WHEN k.version = r.version AND ${isUsedUp('k.max_attempts')} THEN 'exhausted' END`
