import { HubClientError, type Session } from "@signalbox/client"
import { thinkingLevels, thinkingLevelWords, thinkingRequest } from "@signalbox/transcript"
import { type ComponentProps, type ReactNode, useState } from "react"
import { isReachable } from "../agent/agent-question.ts"
import { askModels, BYPASS, modeChoices, modelChoices, modeWords } from "../agent/session-choices.ts"
import { useCanOperate, useHub, useModeRights } from "../app/hub-context.ts"
import { classes } from "../design/classes.ts"
import { Confirm } from "../design/dialog.tsx"
import { type Choice, Select } from "../design/field.tsx"
import { oneLine } from "../design/visible-text.tsx"

type Name = "Model" | "Mode" | "Thinking"
const WORDS: Readonly<Record<Name, string>> = { Model: "the model", Mode: "the mode", Thinking: "thinking" }

interface SteeringProps {
  readonly session: Session
  readonly onTrouble: (why: string | undefined) => void
  /** Puts each of the three in its place. */
  readonly place: (name: Name, control: ReactNode) => ReactNode
  /** How the selects look. */
  readonly className?: string
}

/** Model, mode and thinking. What is shown is what the agent confirmed, never what was only asked for. */
export function Steering({ session, onTrouble, place, className }: SteeringProps) {
  const hub = useHub()
  const rights = useModeRights()
  const canOperate = useCanOperate()
  const [busy, setBusy] = useState<Name | undefined>(undefined)
  const [isBypassing, setBypassing] = useState(false)
  const [models, setModels] = useState<readonly Choice[] | undefined>(undefined)
  const thinking = session.maxThinkingTokens ?? null
  if (!canOperate || !isReachable(session)) {
    return (
      <>
        {session.model !== null && place("Model", <span className="shrink-0">{oneLine(session.model, 40)}</span>)}
        {session.permissionMode !== null &&
          place(
            "Mode",
            <span className={classes("shrink-0", session.permissionMode === BYPASS && "font-bold text-danger")}>
              {modeWords(session.permissionMode)}
            </span>,
          )}
        {thinking !== null && place("Thinking", <span className="shrink-0">{thinkingLevelWords(thinking)}</span>)}
      </>
    )
  }

  async function change(what: Name, request: { subtype: string; [field: string]: unknown }): Promise<void> {
    setBusy(what)
    onTrouble(undefined)
    try {
      await hub.session(session.id).control(request)
    } catch (error) {
      onTrouble(`Couldn't change ${WORDS[what]}: ${wordsOf(error)}`)
    } finally {
      setBusy(undefined)
    }
  }

  const setMode = (mode: string) => void change("Mode", { subtype: "set_permission_mode", mode })
  const select = (name: Name, own: ComponentProps<typeof Select>) =>
    place(
      name,
      <Select
        aria-label={name}
        aria-busy={busy === name}
        disabled={busy !== undefined}
        className={className}
        {...own}
      />,
    )
  return (
    <>
      {select("Model", {
        value: session.model ?? "",
        choices: modelChoices(session.model, models),
        onFocus: () => {
          if (models === undefined) void askModels(hub.session(session.id), session.cliVersion).then(setModels)
        },
        onChange: ({ target }) => void change("Model", { subtype: "set_model", model: target.value }),
      })}
      {select("Mode", {
        value: session.permissionMode ?? "default",
        choices: modeChoices(session.permissionMode, rights, session.cliVersion),
        onChange: ({ target }) => (target.value === BYPASS ? setBypassing(true) : setMode(target.value)),
      })}
      {select("Thinking", {
        value: String(thinking),
        choices: thinkingLevels(thinking).map((level) => ({ value: String(level), label: thinkingLevelWords(level) })),
        onChange: ({ target }) => void change("Thinking", thinkingRequest(levelOf(target.value))),
      })}
      <Confirm
        title="Bypass permissions?"
        consequence="Claude will run any command and edit any file without asking."
        action="Bypass permissions"
        open={isBypassing}
        onClose={() => setBypassing(false)}
        onConfirm={() => setMode(BYPASS)}
      />
    </>
  )
}

function levelOf(value: string): number | null {
  return value === "null" ? null : Number(value)
}

/** The agent's own words, and its own code where it has one. */
function wordsOf(error: unknown): string {
  if (!(error instanceof HubClientError)) return String(error)
  const code = error.details["agentErrorCode"]
  return typeof code === "string" ? `${error.message} (${oneLine(code, 80)})` : error.message
}
