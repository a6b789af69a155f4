import { HubClientError, type Session } from "@signalbox/client"
import { useState } from "react"
import { useCanOperate, useHub, useMe } from "../app/hub-context.ts"
import { Confirm } from "../design/dialog.tsx"
import { type Choice, Select } from "../design/field.tsx"
import { oneLine } from "../design/visible-characters.ts"
import { isReachable } from "./reachable.ts"
import { BYPASS, modeChoices, modelChoices, readModels } from "./session-choices.ts"

interface SteeringProps {
  readonly session: Session
  readonly onTrouble: (why: string | undefined) => void
}

const LOOK =
  "field-sizing-content min-h-7! shrink-0 max-tablet:order-3 border-transparent! bg-transparent! px-1! py-0! text-dense! hover:bg-sunken! coarse:min-h-11!"

/** Model and mode. What is shown is what the agent confirmed, never what was only asked for. */
export function Steering({ session, onTrouble }: SteeringProps) {
  const hub = useHub()
  const { role } = useMe()
  const canOperate = useCanOperate()
  const [busy, setBusy] = useState<"model" | "mode" | undefined>(undefined)
  const [isBypassing, setBypassing] = useState(false)
  const [models, setModels] = useState<readonly Choice[] | undefined>(undefined)
  if (!canOperate || !isReachable(session)) {
    return (
      <>
        {session.model !== null && <span className="shrink-0">{oneLine(session.model, 40)}</span>}
        {session.permissionMode !== null && <span className="shrink-0">{oneLine(session.permissionMode, 40)}</span>}
      </>
    )
  }

  async function change(what: "model" | "mode", request: { subtype: string; [field: string]: unknown }): Promise<void> {
    setBusy(what)
    onTrouble(undefined)
    try {
      await hub.session(session.id).control(request)
    } catch (error) {
      onTrouble(`The ${what} was not changed: ${wordsOf(error)}`)
    } finally {
      setBusy(undefined)
    }
  }

  const setMode = (mode: string) => void change("mode", { subtype: "set_permission_mode", mode })
  return (
    <>
      <Select
        aria-label="Model"
        aria-busy={busy === "model"}
        disabled={busy !== undefined}
        value={session.model ?? ""}
        choices={modelChoices(session.model, models)}
        onFocus={() => {
          if (models === undefined)
            void readModels(hub.session(session.id).control({ subtype: "initialize" })).then(setModels)
        }}
        onChange={(event) => void change("model", { subtype: "set_model", model: event.target.value })}
        className={LOOK}
      />
      <Select
        aria-label="Mode"
        aria-busy={busy === "mode"}
        disabled={busy !== undefined}
        value={session.permissionMode ?? "default"}
        choices={modeChoices(session.permissionMode, role === "admin")}
        onChange={({ target }) => (target.value === BYPASS ? setBypassing(true) : setMode(target.value))}
        className={LOOK}
      />
      <Confirm
        title="Bypass permissions?"
        consequence="It will run every command and change every file without asking anybody, as the user of its machine."
        action="Bypass permissions"
        open={isBypassing}
        onClose={() => setBypassing(false)}
        onConfirm={() => setMode(BYPASS)}
      />
    </>
  )
}

/** The agent's own words, and its own code where it has one. */
function wordsOf(error: unknown): string {
  if (!(error instanceof HubClientError)) return String(error)
  const code = error.details["agentErrorCode"]
  return typeof code === "string" ? `${error.message} (${oneLine(code, 80)})` : error.message
}
