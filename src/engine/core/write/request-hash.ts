/** The stored hash of a request. It shows whether a request under a known Idempotency-Key is a repeat. */
import { digest, digestInTurns } from '../../../contract/canonical-hash.ts'
import type { Scope } from '../scope.ts'

export type RequestHash = {
  /** What is stored. */
  readonly text: string
  /** Whether a stored hash is that of the request; undefined if only another master key can tell. */
  equals(stored: string): boolean | undefined
}

/**
 * Hashes a request. The hash of one that carries secrets needs the master key, since a plain hash would confirm guesses
 * of a short secret. Others have a plain hash, so that servers without the master key can compare them.
 */
export async function hashRequest(
  { vault, policy }: Scope,
  request: unknown,
  carriesSecrets: boolean,
): Promise<RequestHash> {
  const content = await digestInTurns(request)
  // With the policy, so that a response is not replayed under another policy.
  const plain = policy ? digest([content, policy.name]) : content
  if (!carriesSecrets) return { text: plain, equals: (stored) => stored === plain }
  return {
    text: vault.fingerprint(plain),
    // Earlier versions stored plain hashes of all requests, for a day.
    equals: (stored) => stored === plain || vault.isFingerprintOf(plain, stored),
  }
}
