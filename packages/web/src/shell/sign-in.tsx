import { HubClientError } from "@signalbox/client"
import { type FormEvent, useState } from "react"
import { APP_NAME } from "../app/app-name.ts"
import { useHubStore } from "../app/hub-context.ts"
import { Button } from "../design/button.tsx"
import { formText, TextField } from "../design/field.tsx"
import { Logo } from "../design/icons.tsx"
import { Notice } from "../design/notice.tsx"

export function SignIn({ reason }: { readonly reason: string | undefined }) {
  const store = useHubStore()
  const [error, setError] = useState<string | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const token = formText(event.currentTarget, "token")
    if (token === "") return setError("Paste a token first.")
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
      <div className="flex items-center gap-2">
        <Logo size={28} />
        <h1 className="text-page font-bold">{APP_NAME}</h1>
      </div>
      <form
        onSubmit={(event) => void submit(event)}
        noValidate
        className="flex w-full max-w-sm flex-col gap-4 rounded-card border border-line bg-surface p-5"
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
          hint="The hub printed where its admin token is when it started. Or open the link it printed."
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
  if (error.status === 401) return `${error.message.replace(/\.$/, "")}.`
  if (error.status === undefined) return "The hub cannot be reached. Is it running?"
  return error.message
}
