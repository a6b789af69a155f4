import { HubClientError } from "@signalbox/client"
import { type FormEvent, useEffect, useState } from "react"
import { useConnection, useHubStore } from "../app/hub-context.ts"
import type { HubStore } from "../app/hub-store.ts"
import { currentPlace, navigate } from "../app/router.tsx"
import { APP_NAME } from "../app/screen.tsx"
import { useValue, whileOpen } from "../app/value-store.ts"
import { Button } from "../design/button.tsx"
import { formText, TextField } from "../design/field.tsx"
import { Logo } from "../design/icons.tsx"
import { Empty, Notice } from "../design/notice.tsx"
import { Shell } from "./shell.tsx"

type Entry =
  | { readonly name: "asking" }
  | { readonly name: "unreachable"; readonly why: string }
  | { readonly name: "known" }

/** Asks who is there, then shows the cockpit or the sign-in form. */
export function App() {
  const store = useHubStore()
  const me = useValue(store.me)
  const connection = useConnection()
  const [entry, setEntry] = useState<Entry>({ name: "asking" })
  const [tries, setTries] = useState(0)

  useEffect(() => whileOpen(enter(store), setEntry, reportError), [store, tries])

  useEffect(() => {
    if (me === undefined) return undefined
    store.start()
    if (currentPlace().path === "/" || currentPlace().path === "/login") navigate("/sessions", { replace: true })
    return () => store.stop()
  }, [store, me])

  if (me !== undefined) return <Shell />
  if (entry.name === "asking") return null
  if (entry.name === "unreachable") {
    return <Empty action={<Button onClick={() => setTries(tries + 1)}>Try again</Button>}>{entry.why}</Empty>
  }
  return <SignIn reason={connection.name === "signed-out" ? connection.reason : undefined} />
}

/** The code leaves the address before anything else happens: it must not stand in a history. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("code")
  if (location.pathname === "/login" && location.hash !== "") history.replaceState(history.state, "", "/login")
  return code ?? undefined
}

/** Asked once per page: a code is good for one use, and React may mount twice. */
let entering: Promise<Entry> | undefined

function enter(store: HubStore): Promise<Entry> {
  entering ??= decide(store, takeCode()).finally(() => {
    entering = undefined
  })
  return entering
}

async function decide(store: HubStore, code: string | undefined): Promise<Entry> {
  try {
    if (code === undefined) await store.identify()
    else await store.signIn({ code })
  } catch (error) {
    if (!(error instanceof HubClientError)) throw error
    if (error.status === undefined) return { name: "unreachable", why: "Can't reach the hub. Is it running?" }
    if (code !== undefined)
      store.forget("This link has expired or was already used. Get a new one, or sign in with a token.")
  }
  return { name: "known" }
}

function SignIn({ reason }: { readonly reason: string | undefined }) {
  const store = useHubStore()
  const [error, setError] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const token = formText(event.currentTarget, "token")
    if (token === "") return setError("Enter a token.")
    setBusy(true)
    try {
      await store.signIn({ token })
    } catch (failure) {
      setError(whyNot(failure))
      setBusy(false)
    }
  }

  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <div className="flex flex-col items-center gap-3">
        <span className="flex size-14 items-center justify-center rounded-sheet border border-line bg-surface shadow-control">
          <Logo size={32} />
        </span>
        <h1 className="text-page font-bold">{APP_NAME}</h1>
      </div>
      <form
        onSubmit={(event) => void submit(event)}
        noValidate
        className="flex w-full max-w-sm flex-col gap-4 rounded-sheet border border-line bg-surface p-6 shadow-control"
      >
        {reason !== undefined && error === undefined && <Notice tone="neutral">{reason}</Notice>}
        <TextField
          label="Token"
          name="token"
          type="password"
          autoComplete="current-password"
          autoFocus
          spellCheck={false}
          error={error}
          hint="Open the sign-in link from your terminal, or paste a token."
        />
        <Button look="primary" type="submit" aria-disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </Button>
      </form>
    </main>
  )
}

function whyNot(error: unknown): string {
  if (!(error instanceof HubClientError)) return String(error)
  if (error.status === 401) return "That token isn't valid."
  if (error.status === undefined) return "Can't reach the hub. Is it running?"
  return error.message
}
