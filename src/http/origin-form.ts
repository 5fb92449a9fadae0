/**
 * The URL of a request without scheme and host, which a client may send (RFC 9112 §3.2.2). All that reads the URL expects a
 * path.
 */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url
  const [absolute = ''] = /^https?:\/\/[^/?#]*/i.exec(url) ?? []
  const rest = url.slice(absolute.length)
  return absolute === '' || rest.startsWith('/') ? rest : `/${rest}`
}
