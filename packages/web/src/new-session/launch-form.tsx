import type { LaunchedSession } from "@signalbox/client"
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react"
import { useFleet, useSession } from "../app/hub-context.ts"
import { closeOver, navigate } from "../app/router.tsx"
import { Button, CopyButton } from "../design/button.tsx"
import { Field, formText, INPUT } from "../design/field.tsx"
import { Notice, Trouble } from "../design/notice.tsx"
import type { Machine } from "../fleet/machine-store.tsx"
import { LaunchSteps } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { forgetDraft, keepDraft, readBefore, readPlaceBefore, readStartBefore } from "./kept-launch.ts"
import { type AgentChoice, agentChoices, isWholePath, type LaunchFields, NOT_WHOLE } from "./launch.ts"
import {
  AdvancedFields,
  FolderField,
  MachineChoice,
  MoreFields,
  RadioCards,
  useChosenMachine,
} from "./launch-fields.tsx"
import { type Start, StartFrom, useFolder, useForkPoint } from "./start-from.tsx"
import { type Launch, useLaunch } from "./use-launch.ts"

interface LaunchFormProps {
  readonly query: URLSearchParams
  readonly machines: readonly Machine[]
  readonly takesFocus: boolean
  readonly onHold: (isHeld: boolean) => void
}

export function LaunchForm({ query, machines, takesFocus, onHold }: LaunchFormProps) {
  const [before] = useState(() => readBefore(query))
  const [placeBefore] = useState(() => readPlaceBefore(query))
  const [startBefore] = useState(() => readStartBefore(query))
  const { machine, choose } = useChosenMachine(machines, placeBefore.machine)
  const choices = agentChoices(machine)
  const [wished, wishAgent] = useState<string | undefined>(before("agent") || undefined)
  const agent = choices.find(({ value }) => value === wished) ?? choices[0]
  const recents = useRecentFolders()
  const asked = useAsked(startBefore.asked)
  const { point, retry } = useForkPoint(asked?.id, { seq: startBefore.at, message: startBefore.resumeAt })
  const [start, setStart] = useState<Start>({ resume: startBefore.resume, isFork: startBefore.isFork })
  const [typed, setTyped] = useState(placeBefore.cwd)
  const cwd = typed ?? asked?.cwd ?? recents[0] ?? ""
  const form = useRef<HTMLFormElement>(null)
  const folder = useFolder(machine?.id, cwd.trim())
  const isHere = agent?.value !== "external"
  const isForkOfAsked = isHere && start.isFork && asked !== undefined && start.resume === asked.id
  const isPointUnknown = isForkOfAsked && (point.name === "looking" || point.name === "failed")
  const [edits, setEdits] = useState(0)
  const { launch, start: startLaunch, edited } = useLaunch(query, form)
  useEffect(() => onHold(launch.name !== "writing"), [launch.name, onHold])
  useEffect(() => {
    if (edits === 0 || form.current === null) return
    const fields = fieldsOf(form.current)
    keepDraft(String(query), fields)
    edited(fields)
    // After an edit, with what it came to.
  }, [edits])
  useEffect(() => {
    if (takesFocus) form.current?.querySelector<HTMLElement>(cwd === "" ? '[name="cwd"]' : '[name="prompt"]')?.focus()
    // Once: after that it is the reader's.
  }, [])

  function fieldsOf(element: HTMLFormElement): LaunchFields {
    const text = (name: string) => formText(element, name)
    const words = { prompt: text("prompt"), title: text("title"), model: text("model") }
    const mode = { mode: text("mode"), confirmation: text("confirmation") }
    const more = { budget: text("budget"), directories: text("directories") }
    const tools = { allowed: text("allowed"), disallowed: text("disallowed"), enforce: text("enforce") }
    const isAtPoint = point.name === "found" && start.resume === asked?.id
    return {
      agent: agent?.value,
      machine: machine?.id,
      cwd: cwd.trim(),
      ...words,
      ...mode,
      ...more,
      ...tools,
      ...start,
      resumeAt: isAtPoint ? point.message : undefined,
    }
  }

  if (launch.name === "by-hand") return <BringAgent session={launch.session} command={launch.command} />
  const problem = launch.name === "writing" ? launch.problem : undefined
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPointUnknown) void startLaunch(fieldsOf(event.currentTarget))
      }}
      onChange={() => setEdits(edits + 1)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
      className="flex flex-col gap-4"
    >
      <MachineChoice machines={machines} chosen={machine} onChange={choose} />
      {choices.length > 1 && (
        <RadioCards legend="Agent" name="agent" value={agent?.value} choices={choices} onChange={wishAgent} />
      )}
      {isHere && (
        <>
          <FolderField
            value={cwd}
            onChange={setTyped}
            offered={[...recents, ...folder.inside]}
            problem={problem}
            warning={folder.isMissing ? missingFolder(cwd.trim(), machine?.name) : undefined}
          />
          <StartFrom start={start} recorded={folder.recorded} asked={asked} point={point} onChange={setStart} />
          {isForkOfAsked && point.name === "failed" && (
            <Trouble onRetry={retry}>Couldn't find the message to fork from: {point.why}</Trouble>
          )}
        </>
      )}
      <Field label="First message">
        {(ids) => (
          <textarea
            {...ids}
            name="prompt"
            rows={4}
            defaultValue={before("prompt")}
            placeholder="What should Claude do?"
            className={INPUT}
          />
        )}
      </Field>
      <MoreFields isHere={isHere} isResuming={start.resume !== undefined} problem={problem} before={before} />
      {isHere && <AdvancedFields problem={problem} before={before} />}
      {launch.name === "writing" && launch.failure !== undefined && <Trouble>Couldn't start: {launch.failure}</Trouble>}
      {launch.name === "starting" && isHere && <LaunchSteps at="queued" />}
      {/* In a dialog it stays in view, however long the form is. */}
      <div className="flex justify-end gap-3 tablet:sticky tablet:-bottom-4 tablet:-mx-4 tablet:-mb-4 tablet:border-t tablet:border-line tablet:bg-raised tablet:px-4 tablet:py-3">
        <Button
          // A launch under way is not undone by it.
          aria-disabled={launch.name === "starting"}
          onClick={() => {
            if (launch.name === "starting") return
            forgetDraft()
            closeOver()
          }}
        >
          Cancel
        </Button>
        <Button look="primary" type="submit" aria-disabled={launch.name === "starting" || isPointUnknown}>
          {effectOf({ launch, agent, machine })}
        </Button>
      </div>
    </form>
  )
}

function missingFolder(path: string, machine = "that machine"): string {
  if (!isWholePath(path)) return NOT_WHOLE
  return `Folder not found on ${machine}.`
}

/** The button says what it does. */
function effectOf(options: {
  readonly launch: Launch
  readonly agent: AgentChoice | undefined
  readonly machine: Machine | undefined
}): ReactNode {
  const { launch, agent, machine } = options
  const where = machine === undefined ? "" : ` on ${machine.name}`
  if (launch.name === "starting") return `Starting${agent?.value === "external" ? "" : where}…`
  return agent?.value === "external" ? "Create session" : `Start${where}`
}

/** The session to go on from, by the address or a launch before. */
function useAsked(id: string | undefined) {
  const session = useSession(id ?? "")
  if (id === undefined) return undefined
  return { id, title: session === undefined ? `Session ${id.slice(0, 8)}` : titleOf(session), cwd: session?.cwd }
}

function useRecentFolders(): readonly string[] {
  const { sessions } = useFleet()
  return useMemo(() => {
    const sorted = [...sessions.values()].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    return [...new Set(sorted.flatMap(({ cwd }) => cwd ?? []))].slice(0, 10)
  }, [sessions])
}

/** For an agent that is started by hand: the command is shown this once. */
function BringAgent({ session, command }: { readonly session: LaunchedSession; readonly command: string }) {
  return (
    <div className="flex flex-col gap-3">
      <Notice tone="info">Waiting for the agent. Run this on any machine that can reach this hub.</Notice>
      <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-12 font-mono text-dense break-words whitespace-pre-wrap">
        {command}
        <CopyButton text={command} label="Copy command" className="absolute top-1 right-1" />
      </div>
      <p className="text-dense text-text-2">The command contains a token for this session and is shown only once.</p>
      <div className="flex justify-end">
        <Button look="primary" onClick={() => navigate(`/s/${session.id}`, { replace: true })}>
          Open session
        </Button>
      </div>
    </div>
  )
}
