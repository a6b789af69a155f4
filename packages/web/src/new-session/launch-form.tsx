import type { LaunchedSession } from "@signalbox/client"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { useSession } from "../app/hub-context.ts"
import { closeOver, navigate } from "../app/router.tsx"
import { Button, CopyButton } from "../design/button.tsx"
import { formText } from "../design/field.tsx"
import { Notice, Trouble } from "../design/notice.tsx"
import type { Machine } from "../fleet/machine-store.tsx"
import { useRecentFolders, useRecorded } from "../fleet/recent-folders.ts"
import { LaunchSteps } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { FolderField, RecentFolders } from "./folder-field.tsx"
import { forgetDraft, keepDraft, readBefore, readPlaceBefore, readStartBefore, readTicked } from "./kept-launch.ts"
import { type AgentChoice, agentChoices, isWholePath, type LaunchFields, NOT_WHOLE } from "./launch.ts"
import { AdvancedFields, ChoiceFields } from "./launch-fields.tsx"
import { MachineChoice, RadioCards, useChosenMachine } from "./machine-choice.tsx"
import { PromptField } from "./prompt-field.tsx"
import { offeredOf, type Start, StartFrom, useFolder, useForkPoint } from "./start-from.tsx"
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
  const [hadWorktree] = useState(() => readTicked(query, "worktree"))
  const asked = useAsked(startBefore.asked)
  const { machine, choose } = useChosenMachine(machines, placeBefore.machine || (asked?.machine ?? ""))
  const choices = agentChoices(machine)
  const [wished, wishAgent] = useState<string | undefined>(before("agent") || undefined)
  const agent = choices.find(({ value }) => value === wished) ?? choices[0]
  const everRecorded = useRecorded(machine?.id)
  const recents = useRecentFolders(machine?.id, everRecorded)
  const { point, retry } = useForkPoint(asked?.id, { seq: startBefore.at, message: startBefore.resumeAt })
  const [start, setStart] = useState<Start>({ resume: startBefore.resume, isFork: startBefore.isFork })
  const [typed, setTyped] = useState(placeBefore.cwd)
  const [gone, setGone] = useState<readonly string[]>([])
  // A folder of another machine, or one that is gone, is never proposed.
  const proposed = recents.filter((path) => !gone.includes(path))
  const isElsewhere = asked?.machine != null && asked.machine !== machine?.id
  const askedCwd = isElsewhere ? undefined : asked?.cwd
  const cwd = typed ?? (asked === undefined ? proposed[0] : askedCwd) ?? ""
  const form = useRef<HTMLFormElement>(null)
  const folder = useFolder(machine?.id, cwd.trim())
  const isProposed = typed === null && asked === undefined
  useEffect(() => {
    if (folder.isMissing && isProposed) setGone((before) => [...before, cwd])
  }, [folder.isMissing, isProposed, cwd])
  const isHere = agent?.value !== "external"
  const isForkOfAsked = isHere && start.isFork && asked !== undefined && start.resume === asked.id
  const isPointUnknown = isForkOfAsked && (point.name === "looking" || point.name === "failed")
  const [prompt, setPrompt] = useState(() => before("prompt"))
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
    const words = { prompt: text("prompt"), title: text("title"), model: text("model"), effort: text("effort") }
    const mode = { mode: text("mode"), confirmation: text("confirmation"), worktree: text("worktree") !== "" }
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

  function chooseFolder(path: string): void {
    setTyped(path)
    setEdits(edits + 1)
  }

  if (launch.name === "by-hand") return <BringAgent session={launch.session} command={launch.command} />
  const problem = launch.name === "writing" ? launch.problem : undefined
  const folderProblem = problem?.field === "cwd" && cwd.trim() === "" ? problem.why : undefined
  const missing = folder.isMissing ? missingFolder(cwd.trim(), machine?.name) : undefined
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
      className="flex flex-col gap-4 tablet:gap-3"
    >
      <MachineChoice machines={machines} chosen={machine} onChange={choose} />
      {choices.length > 1 && (
        <RadioCards legend="Agent" name="agent" value={agent?.value} choices={choices} onChange={wishAgent} isTight />
      )}
      {isHere && (
        <>
          <FolderField
            value={cwd}
            machine={machine?.id}
            onChange={chooseFolder}
            offered={[...recents, ...folder.inside]}
            // Only a folder that somebody named here is wrong: the form does not open in error.
            error={folderProblem ?? (edits > 0 && typed !== null ? missing : undefined)}
            hint={missing}
          />
          <RecentFolders paths={proposed} home={machine?.home} chosen={cwd} onChoose={chooseFolder} />
          <StartFrom
            start={start}
            recorded={offeredOf({ here: folder.recorded, everywhere: everRecorded, cwd: cwd.trim(), asked: asked?.id })}
            asked={asked}
            point={point}
            onChange={(next) => {
              setStart(next)
              const from = everRecorded.find(({ sessionId }) => sessionId === next.resume)?.cwd ?? null
              if (from !== null && from !== cwd) chooseFolder(from)
            }}
          />
          {isForkOfAsked && point.name === "failed" && (
            <Trouble onRetry={retry}>Couldn't find the message to fork from: {point.why}</Trouble>
          )}
        </>
      )}
      <PromptField
        value={prompt}
        onChange={(text) => {
          setPrompt(text)
          setEdits(edits + 1)
        }}
      />
      <ChoiceFields isHere={isHere} start={start} problem={problem} before={before} hadWorktree={hadWorktree} />
      <AdvancedFields isHere={isHere} problem={problem} before={before} />
      {launch.name === "writing" && launch.failure !== undefined && <Trouble>Couldn't start: {launch.failure}</Trouble>}
      {launch.name === "starting" && isHere && <LaunchSteps at="queued" />}
      {/* It stays in view, however long the form is. */}
      <div className="sticky bottom-0 -mx-4 -mb-4 flex justify-end gap-3 border-t border-line bg-canvas px-4 py-3 tablet:-bottom-4 tablet:bg-raised">
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
  return {
    id,
    title: session === undefined ? `Session ${id.slice(0, 8)}` : titleOf(session),
    cwd: session?.cwd,
    machine: session?.runner,
  }
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
