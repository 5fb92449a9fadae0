/** Replaces a secret in what is shown. In a write, it keeps the stored one. */
export const REDACTED = '<redacted>'
