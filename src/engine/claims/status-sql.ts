/**
 * SQL expressions for the state of a row of `plinth.claim`. A completed or exhausted claim keeps its record
 * out of the pool only until another writer changes the record, which its version shows.
 */

/** Whether claim `k` has reached the maximum number of attempts. Null counts as false. */
const isUsedUp = (most: string): string => `coalesce(k.attempts >= ${most}, false)`

/** Whether claim `k` keeps record `r` out of the pool. `most` limits the attempts; null for no limit. */
export const keepsOut = (most: string): string => `CASE WHEN k.status = 'completed' THEN k.version = r.version
     WHEN k.status = 'held' AND k.expires_at > now() THEN true
     ELSE k.version = r.version AND ${isUsedUp(`least(k.max_attempts, ${most})`)} END`

/** Number of earlier attempts on record `r` for the same work as claim `k`. */
export const attemptsBefore = (most: string): string => `CASE WHEN k.status = 'completed'
     OR (k.version <> r.version AND ${isUsedUp(`least(k.max_attempts, ${most})`)}) THEN 0 ELSE k.attempts END`

/** Status of claim `k` of record `r`; null when the claim is lost. */
export const STATUS = `CASE WHEN k.row_no IS NULL THEN NULL
     WHEN k.status = 'completed' THEN CASE WHEN k.version = r.version THEN 'completed' END
     WHEN k.status = 'held' AND k.expires_at > now() THEN 'active'
     WHEN k.version = r.version AND ${isUsedUp('k.max_attempts')} THEN 'exhausted' END`
