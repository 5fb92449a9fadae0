/** Sends a request of the page: a path of this server. */
export type Send = (
  path: string,
  init?: { method?: string; headers?: Record<string, string>; body?: string },
) => Promise<Response>
