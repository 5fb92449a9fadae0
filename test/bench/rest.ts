/** Plinth's REST API, for all that is prepared and not measured. */
export type Rest = <Answer = unknown>(method: string, path: string, body?: unknown) => Promise<Answer>

export function restOf(url: string, token: string): Rest {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer as never
  }
}
