import { type FormEvent, useEffect, useRef, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { Button } from "../design/button.tsx"
import { CopyButton } from "../design/copy-button.tsx"
import { Dialog } from "../design/dialog.tsx"
import { formText, TextField } from "../design/field.tsx"
import { Notice } from "../design/notice.tsx"
import { makeRunnerToken } from "../fleet/machine.ts"

interface AddMachineProps {
  readonly open: boolean
  readonly onClose: () => void
}

type Step =
  | { readonly name: "asking"; readonly trouble?: string }
  | { readonly name: "making" }
  | { readonly name: "made"; readonly command: string }

export function AddMachine({ open, onClose }: AddMachineProps) {
  const [isHeld, setHeld] = useState(false)
  useEffect(() => setHeld(false), [open])
  return (
    <Dialog title="Add machine" open={open} onClose={onClose} isHeld={isHeld} className="max-w-lg">
      {/* Closed, it forgets: the command holds a secret. */}
      {open && <AddMachineBody onClose={onClose} onMade={() => setHeld(true)} />}
    </Dialog>
  )
}

interface BodyProps {
  readonly onClose: () => void
  /** From now on something would be lost by closing it. */
  readonly onMade: () => void
}

function AddMachineBody({ onClose, onMade }: BodyProps) {
  const hub = useHub()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const [step, setStep] = useState<Step>({ name: "asking" })

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const name = formText(event.currentTarget, "name")
    if (name === "") return setStep({ name: "asking", trouble: "Say what to call it." })
    setStep({ name: "making" })
    try {
      setStep({ name: "made", command: commandFor(name, await makeRunnerToken(hub, name)) })
      onMade()
    } catch (error) {
      setStep({ name: "asking", trouble: error instanceof Error ? error.message : String(error) })
    }
  }

  if (step.name === "made") return <Made command={step.command} onClose={onClose} />
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-3 px-4 pb-4">
      <p className="text-text-2">
        A runner on that machine owns its agents and dials this hub; nothing listens there. It needs a token of its own.
      </p>
      <TextField
        ref={field}
        label="Name of the machine"
        name="name"
        autoComplete="off"
        maxLength={80}
        error={step.name === "asking" ? step.trouble : undefined}
      />
      <div className="flex justify-end gap-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" aria-disabled={step.name === "making"}>
          Make a token
        </Button>
      </div>
    </form>
  )
}

function Made({ command, onClose }: { readonly command: string; readonly onClose: () => void }) {
  return (
    <div className="flex flex-col gap-3 px-4 pb-4">
      <Notice tone="info">Run this on that machine. It shows up in the list when it is connected.</Notice>
      <div className="relative">
        <pre
          // A region that scrolls must be reachable by keyboard.
          tabIndex={0}
          aria-label="Command"
          className="overflow-x-auto rounded-control border border-line bg-sunken px-3 py-2 pe-12 font-mono text-dense whitespace-pre-wrap"
        >
          {command}
        </pre>
        <CopyButton text={command} label="Copy command" className="absolute top-1 right-1" />
      </div>
      <p className="text-dense text-text-2">
        The command holds the token and is not shown again. Revoking the token shuts the machine out.
      </p>
      <div className="flex justify-end">
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}

/** Quoted for a shell: a name may hold anything. */
function commandFor(name: string, token: string): string {
  return `SIGNALBOX_TOKEN=${token} npx signalbox runner --hub ${location.origin} --name '${name.replaceAll("'", String.raw`'\''`)}'`
}
