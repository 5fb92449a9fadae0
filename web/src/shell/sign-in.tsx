/** The sign-in: a token that is exchanged at once for one of this tab. Over a page whose token ended, it is a dialog. */
import { type FormEvent, useEffect, useState } from 'react'
import { signIn, signsInElsewhere } from '../api/session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { words } from '../words.ts'

type Props = { message?: string | undefined; isAgain?: boolean }

export function SignIn({ message, isAgain = false }: Props) {
  const [closed, setClosed] = useState(0)
  if (isAgain)
    return (
      // There is no other way on: it opens again.
      <Dialog key={closed} title={words.signIn.again} onClose={() => setClosed(closed + 1)}>
        <Form message={message} isAgain />
      </Dialog>
    )
  return (
    <main className="stack gap-4 sign-in">
      <div className="mark" aria-hidden="true" />
      <h1>Plinth</h1>
      <p>{words.signIn.about}</p>
      <Form message={message} />
    </main>
  )
}

/** Where people have an organization to sign in at, a token is for programs, and folded away. */
function Form({ message, isAgain = false }: Props) {
  const [token, setToken] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [isElsewhere, setElsewhere] = useState(false)
  useEffect(() => void signsInElsewhere().then(setElsewhere), [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    void signIn(token.trim()).finally(() => setBusy(false))
  }
  const form = (
    <>
      <form onSubmit={submit}>
        <label htmlFor="token">{words.signIn.token}</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          placeholder="plt_…"
          required
          value={token}
          aria-describedby="sign-in-message"
          onChange={({ target }) => setToken(target.value)}
        />
        <button type="submit" className={isElsewhere ? '' : 'primary'} disabled={isBusy}>
          {words.signIn.submit}
        </button>
      </form>
      {!isAgain && (
        <>
          <p className="meta">
            {words.signIn.hint} <code>npx plinth open</code>
          </p>
          <p className="meta">{words.signIn.help}</p>
        </>
      )}
    </>
  )
  return (
    <>
      {isElsewhere && (
        <a
          className="button primary"
          href={`/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`}
        >
          {words.signIn.provider}
        </a>
      )}
      {isElsewhere ? (
        <details>
          <summary>{words.signIn.withToken}</summary>
          {form}
        </details>
      ) : (
        form
      )}
      <p id="sign-in-message" role="status" className="failed-word">
        {message ?? ''}
      </p>
    </>
  )
}
