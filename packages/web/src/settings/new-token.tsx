import { type FormEvent, useEffect, useRef, useState } from "react"
import { hubNow } from "../app/clock.ts"
import { useHub } from "../app/hub-context.ts"
import { whyOf } from "../app/loaded.ts"
import { Button, CopyButton } from "../design/button.tsx"
import { Dialog } from "../design/dialog.tsx"
import { Field, formText, Select, TextField } from "../design/field.tsx"
import { Notice, Trouble } from "../design/notice.tsx"

interface NewTokenProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onMade: () => void
}

type Making =
  | { readonly name: "asking"; readonly unnamed?: true; readonly trouble?: string }
  | { readonly name: "making" }
  | { readonly name: "made"; readonly token: string }

const ASKING: Making = { name: "asking" }

export function NewTokenDialog({ open, onClose, onMade }: NewTokenProps) {
  const [making, setMaking] = useState<Making>(ASKING)
  const close = () => {
    if (making.name !== "making") setMaking(ASKING)
    onClose()
  }
  const isHeld = making.name !== "asking"
  return (
    // Open until a token that is made was shown, which is this once: also for somebody who went Back meanwhile.
    <Dialog title="Create token" open={open || isHeld} onClose={close} isHeld={isHeld} className="max-w-lg">
      {making.name === "made" ? (
        <MadeToken token={making.token} onClose={close} />
      ) : (
        <NewToken making={making} onMaking={setMaking} onClose={close} onMade={onMade} />
      )}
    </Dialog>
  )
}

const ROLES = [
  { value: "operator", label: "Operator: start sessions, send, answer requests" },
  { value: "viewer", label: "Viewer: read only" },
  { value: "admin", label: "Admin: everything" },
  { value: "runner", label: "Machine: run agents" },
] as const

const DAY_MS = 86_400_000
const LIFETIMES = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "", label: "Never" },
] as const

interface NewTokenFormProps extends Omit<NewTokenProps, "open"> {
  readonly making: Exclude<Making, { readonly name: "made" }>
  readonly onMaking: (making: Making) => void
}

function NewToken({ making, onMaking, onClose, onMade }: NewTokenFormProps) {
  const hub = useHub()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const isMaking = making.name === "making"

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    if (isMaking) return
    const form = event.currentTarget
    const name = formText(form, "name")
    const role = ROLES.find(({ value }) => value === formText(form, "role"))?.value ?? "viewer"
    const days = Number(formText(form, "lifetime"))
    if (name === "") {
      onMaking({ name: "asking", unnamed: true })
      field.current?.focus()
      return
    }
    onMaking({ name: "making" })
    try {
      const expiresAt = days === 0 ? {} : { expiresAt: new Date(hubNow() + days * DAY_MS).toISOString() }
      const { token } = await hub.tokens.create({ name, role, ...expiresAt })
      onMaking({ name: "made", token })
      onMade()
    } catch (error) {
      onMaking({ name: "asking", trouble: whyOf(error) })
    }
  }

  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-3 px-4 pb-4">
      <TextField
        ref={field}
        label="Name"
        name="name"
        autoComplete="off"
        maxLength={100}
        hint="Who or what uses it. Tokens with the same name count as one person."
        error={making.name === "asking" && making.unnamed === true ? "Enter a name." : undefined}
      />
      <Field label="Role">{(ids) => <Select name="role" choices={ROLES} {...ids} />}</Field>
      <Field label="Expires after">
        {(ids) => <Select name="lifetime" choices={LIFETIMES} defaultValue="90" {...ids} />}
      </Field>
      <Trouble>{making.name === "asking" && making.trouble !== undefined && `Not created: ${making.trouble}`}</Trouble>
      <div className="flex justify-end gap-3">
        <Button aria-disabled={isMaking} onClick={() => !isMaking && onClose()}>
          Cancel
        </Button>
        <Button look="primary" type="submit" aria-disabled={isMaking}>
          Create token
        </Button>
      </div>
    </form>
  )
}

function MadeToken({ token, onClose }: { readonly token: string; readonly onClose: () => void }) {
  return (
    <div className="flex flex-col gap-3 px-4 pb-4">
      <Notice tone="info">Copy the token now. It is shown only once.</Notice>
      <div className="relative">
        <pre
          // A region that scrolls must be reachable by keyboard.
          tabIndex={0}
          aria-label="Token"
          className="rounded-control border border-line bg-sunken px-3 py-2 pe-12 font-mono text-dense wrap-anywhere whitespace-pre-wrap"
        >
          {token}
        </pre>
        <CopyButton text={token} label="Copy token" className="absolute top-1 right-1" />
      </div>
      <div className="flex justify-end">
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
