/**
 * CTE `ty` that locks the row of the type `$2` of the base `$1` (KEY SHARE), if it meets the condition. All writers lock the
 * type before its records, against deadlocks.
 */
export const lockedType = (condition?: string): string => `ty AS MATERIALIZED (
     SELECT 1 FROM plinth.record_type WHERE base_id = $1 AND id = $2${condition ? ` AND ${condition}` : ''} FOR KEY SHARE)`
