import type { Session } from "@signalbox/client"
import { type ReactNode, useState } from "react"
import { announce } from "../app/announcer.tsx"
import { useCanOperate, useHub, useMe } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { setPreferences, usePreferences } from "../app/preferences.ts"
import { Button } from "../design/button.tsx"
import { type Choice, Select } from "../design/field.tsx"
import { BackIcon, EyeIcon, StopIcon } from "../design/icons.tsx"
import type { MenuEntry } from "../design/menu.tsx"
import { Notice } from "../design/notice.tsx"
import { StatusGlyph } from "../design/status-glyph.tsx"
import { oneLine } from "../design/visible-characters.ts"
import { money, shortPath } from "../design/words.ts"
import { MachineName } from "../sessions/machine-name.tsx"
import { useSessionActions } from "../sessions/session-actions.ts"
import { SessionMenu } from "../sessions/session-menu.tsx"
import type { SessionStatus } from "../sessions/session-status.ts"
import { titleOf } from "../sessions/session-words.ts"
import { modeChoices, modelChoices } from "./session-choices.ts"

interface SessionHeaderProps {
  readonly session: Session
  readonly status: SessionStatus
  readonly trailing: ReactNode
}

export function SessionHeader({ session, status, trailing }: SessionHeaderProps) {
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const actions = useSessionActions(session)
  const { detail } = usePreferences()
  const isRunning = session.state === "running" || session.state === "waiting"
  const details: readonly MenuEntry[] = (["brief", "normal", "full"] as const).map((level) => ({
    label: `Detail: ${level}`,
    checked: level === detail,
    onSelect: () => setPreferences({ detail: level }),
  }))
  return (
    <header className="shrink-0 border-b border-line bg-surface">
      <div className="flex items-center gap-2 px-2 pt-2 tablet:px-4">
        <Link
          href="/sessions"
          aria-label="Back to the sessions"
          className="flex size-8 items-center justify-center rounded-control text-text-2 hover:bg-sunken desktop:hidden coarse:size-11"
        >
          <BackIcon />
        </Link>
        <h1 className="min-w-0 flex-1 truncate text-title font-bold">
          <bdi>{titleOf(session)}</bdi>
        </h1>
        <span className="max-tablet:hidden">
          <StatusGlyph status={status} withWord />
        </span>
        {actions !== undefined && isRunning && (
          <Button onClick={actions.interrupt} title="Interrupt (Ctrl/⌘ .)">
            <StopIcon size={14} />
            <span className="max-tablet:sr-only">Interrupt</span>
          </Button>
        )}
        {trailing}
        <SessionMenu session={session} more={details} />
      </div>
      <div className="flex items-center gap-x-4 gap-y-1 px-3 pb-2 text-dense text-text-2 max-tablet:overflow-x-auto max-tablet:whitespace-nowrap tablet:flex-wrap tablet:px-4">
        <span className="tablet:hidden">
          <StatusGlyph status={status} withWord />
        </span>
        <MachineName session={session} />
        {session.cwd !== null && <Folder path={session.cwd} />}
        {session.cliVersion !== null && <span className="max-tablet:hidden">CLI {session.cliVersion}</span>}
        <Steering session={session} onTrouble={setTrouble} />
        {session.costUsd > 0 && <span className="tabular-nums">{money(session.costUsd)}</span>}
        {session.viewers > 1 && (
          <span className="flex items-center gap-1 tabular-nums">
            <EyeIcon size={14} />
            {session.viewers}
            <span className="sr-only">watching</span>
          </span>
        )}
      </div>
      {trouble !== undefined && (
        <div className="px-3 pb-2">
          <Notice tone="danger" alert>
            {trouble}
            <Button look="quiet" className="ms-auto" onClick={() => setTrouble(undefined)}>
              Dismiss
            </Button>
          </Notice>
        </div>
      )}
    </header>
  )
}

function Folder({ path }: { readonly path: string }) {
  const copy = () => {
    navigator.clipboard.writeText(path).then(
      () => announce("Folder copied"),
      () => announce("The browser did not let us copy"),
    )
  }
  return (
    <button
      type="button"
      onClick={copy}
      title={`${path} (click to copy)`}
      className="shrink-0 truncate font-mono text-meta hover:underline"
    >
      <bdi>{oneLine(shortPath(path, 3), 60)}</bdi>
    </button>
  )
}

/** Model and mode. What is shown is what the agent confirmed, never what was only asked for. */
function Steering({
  session,
  onTrouble,
}: {
  readonly session: Session
  readonly onTrouble: (why: string | undefined) => void
}) {
  const hub = useHub()
  const { role } = useMe()
  const canOperate = useCanOperate()
  const [busy, setBusy] = useState<"model" | "mode" | undefined>(undefined)
  const [models, setModels] = useState<readonly Choice[] | undefined>(undefined)
  const isReachable = session.state === "idle" || session.state === "running" || session.state === "waiting"
  if (!canOperate || !isReachable) {
    return (
      <>
        {session.model !== null && <span>{oneLine(session.model, 40)}</span>}
        {session.permissionMode !== null && <span>{oneLine(session.permissionMode, 40)}</span>}
      </>
    )
  }

  async function change(what: "model" | "mode", request: { subtype: string; [field: string]: unknown }): Promise<void> {
    setBusy(what)
    onTrouble(undefined)
    try {
      await hub.session(session.id).control(request)
    } catch (error) {
      onTrouble(`The ${what} was not changed: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      setBusy(undefined)
    }
  }

  const look =
    "field-sizing-content min-h-7! border-transparent! bg-transparent! px-1! py-0! text-dense! hover:bg-sunken! coarse:min-h-11!"
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
        className={look}
      />
      <Select
        aria-label="Mode"
        aria-busy={busy === "mode"}
        disabled={busy !== undefined}
        value={session.permissionMode ?? "default"}
        choices={modeChoices(session.permissionMode, role === "admin")}
        onChange={(event) => void change("mode", { subtype: "set_permission_mode", mode: event.target.value })}
        className={look}
      />
    </>
  )
}

/** What the agent offers, from what it said when it started. None: it is asked again the next time. */
async function readModels(reply: Promise<unknown>): Promise<readonly Choice[] | undefined> {
  try {
    const body = await reply
    if (typeof body !== "object" || body === null || !("models" in body) || !Array.isArray(body.models))
      return undefined
    return body.models.flatMap((model: unknown) => {
      if (typeof model !== "object" || model === null || !("value" in model) || typeof model.value !== "string")
        return []
      const label = "displayName" in model && typeof model.displayName === "string" ? model.displayName : model.value
      return [{ value: model.value, label: oneLine(label, 60) }]
    })
  } catch {
    return undefined
  }
}
