/** Whether `If-None-Match` matches the ETag, by weak comparison. Source: RFC 9110 §13.1.2. */
export const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
