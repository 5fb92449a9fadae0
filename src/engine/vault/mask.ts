/** Hides known secrets in text that others wrote, such as the answer of a receiver. */
import { REDACTED } from '../../foundation/redacted.ts'

/**
 * The text without the secrets, as they are and as JSON and URLs write them. `isCut`: the text was cut at its end,
 * where it may have the start of a secret.
 */
export function maskSecrets(text: string, secrets: readonly string[], isCut = false): string {
  const forms = [...new Set(secrets.flatMap(formsOf))].sort((one, other) => other.length - one.length)
  const whole = forms.reduce((shown, form) => shown.replaceAll(form, REDACTED), text)
  if (!isCut) return whole
  const cut = Math.max(0, ...forms.map((form) => startAtEnd(whole, form)))
  return cut === 0 ? whole : whole.slice(0, -cut) + REDACTED
}

const formsOf = (secret: string): string[] =>
  secret === ''
    ? []
    : [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())]

/** How many characters at the end of the text are the start of `form`, in linear time. */
function startAtEnd(text: string, form: string): number {
  const back = [0]
  for (let at = 1, held = 0; at < form.length; at++) {
    while (held > 0 && form[at] !== form[held]) held = back[held - 1] ?? 0
    if (form[at] === form[held]) held++
    back.push(held)
  }
  let held = 0
  for (const char of text.slice(-form.length).split('')) {
    while (held > 0 && (held === form.length || char !== form[held])) held = back[held - 1] ?? 0
    if (char === form[held]) held++
  }
  return held
}
