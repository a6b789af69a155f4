import { HubClientError, type Session } from "@signalbox/client"
import { type ReactNode, useState } from "react"
import { useCanOperate, useHub, useMe } from "../app/hub-context.ts"
import { Confirm } from "../design/dialog.tsx"
import { type Choice, Select } from "../design/field.tsx"
import { oneLine } from "../design/visible-characters.ts"
import { askModels } from "./ask-models.ts"
import { isReachable } from "./reachable.ts"
import { BYPASS, modeChoices, modelChoices, modeWords } from "./session-choices.ts"

interface SteeringProps {
  readonly session: Session
  readonly onTrouble: (why: string | undefined) => void
  /** Where each of the two stands. */
  readonly place: (name: "Model" | "Mode", control: ReactNode) => ReactNode
  /** How the selects look. */
  readonly className?: string
}

/** Model and mode. What is shown is what the agent confirmed, never what was only asked for. */
export function Steering({ session, onTrouble, place, className }: SteeringProps) {
  const hub = useHub()
  const { role } = useMe()
  const canOperate = useCanOperate()
  const [busy, setBusy] = useState<"model" | "mode" | undefined>(undefined)
  const [isBypassing, setBypassing] = useState(false)
  const [models, setModels] = useState<readonly Choice[] | undefined>(undefined)
  if (!canOperate || !isReachable(session)) {
    return (
      <>
        {session.model !== null && place("Model", <span className="shrink-0">{oneLine(session.model, 40)}</span>)}
        {session.permissionMode !== null &&
          place("Mode", <span className="shrink-0">{modeWords(session.permissionMode)}</span>)}
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
      {place(
        "Model",
        <Select
          aria-label="Model"
          aria-busy={busy === "model"}
          disabled={busy !== undefined}
          value={session.model ?? ""}
          choices={modelChoices(session.model, models)}
          onFocus={() => {
            if (models === undefined) void askModels(hub.session(session.id), session.cliVersion).then(setModels)
          }}
          onChange={(event) => void change("model", { subtype: "set_model", model: event.target.value })}
          className={className}
        />,
      )}
      {place(
        "Mode",
        <Select
          aria-label="Mode"
          aria-busy={busy === "mode"}
          disabled={busy !== undefined}
          value={session.permissionMode ?? "default"}
          choices={modeChoices(session.permissionMode, role === "admin")}
          onChange={({ target }) => (target.value === BYPASS ? setBypassing(true) : setMode(target.value))}
          className={className}
        />,
      )}
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
