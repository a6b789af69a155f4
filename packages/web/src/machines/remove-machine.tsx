import { type FormEvent, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { navigate } from "../app/router.tsx"
import { Button } from "../design/button.tsx"
import { Dialog } from "../design/dialog.tsx"
import { formText, TextField } from "../design/field.tsx"
import { type Machine, refreshMachines } from "../fleet/machine-store.tsx"

interface RemoveMachineProps {
  readonly machine: Machine
  readonly open: boolean
  readonly onClose: () => void
}

/** Asks for the name: what is typed is what is meant. */
export function RemoveMachine({ machine, open, onClose }: RemoveMachineProps) {
  const hub = useHub()
  const [trouble, setTrouble] = useState<string | undefined>(undefined)

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    if (formText(event.currentTarget, "name") !== machine.name.trim()) {
      return setTrouble("That isn't the machine's name.")
    }
    try {
      await hub.runners.forget(machine.id)
      await refreshMachines(hub)
      navigate("/machines", { replace: true })
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
  }

  const close = () => {
    setTrouble(undefined)
    onClose()
  }
  return (
    <Dialog title={`Remove “${machine.name}”?`} open={open} onClose={close} role="alertdialog" className="max-w-md">
      <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-3 px-4 pb-4">
        <p className="text-text-2">
          The machine will no longer be listed. Its sessions and history are kept; running sessions stay lost until they
          are stopped. If its runner connects again, the machine is back.
        </p>
        <TextField
          label={`Type ${machine.name} to confirm`}
          name="name"
          autoComplete="off"
          spellCheck={false}
          error={trouble}
        />
        <div className="flex justify-end gap-3">
          <Button onClick={close}>Cancel</Button>
          <Button look="danger" type="submit">
            Remove machine
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
