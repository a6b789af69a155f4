import { HubClientError, type LaunchedSession } from "@signalbox/client"
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react"
import { useCanOperate, useFleet, useHubStore } from "../app/hub-context.ts"
import { navigate, usePlace } from "../app/router.ts"
import { useScreenTitle } from "../app/screen-title.ts"
import { Button } from "../design/button.tsx"
import { CopyButton } from "../design/copy-button.tsx"
import { Field, formText, INPUT, Select, TextField } from "../design/field.tsx"
import { Empty, Notice } from "../design/notice.tsx"
import { modeChoices } from "../session/session-choices.ts"
import { type AgentChoice, agentChoices, type Runner, readRunners } from "./runners.ts"

export function NewSessionScreen() {
  useScreenTitle("New session")
  const canOperate = useCanOperate()
  if (!canOperate) return <Empty>Your role is viewer: operators can start sessions.</Empty>
  return (
    <div data-region="content" className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto flex max-w-2xl flex-col gap-4 px-4 py-4">
        <h1 className="text-page font-bold">New session</h1>
        <LaunchForm />
      </div>
    </div>
  )
}

function useRunners(): readonly Runner[] | undefined {
  const { hub } = useHubStore()
  const [runners, setRunners] = useState<readonly Runner[] | undefined>(undefined)
  useEffect(() => {
    // Without an answer there is no machine to choose: an agent can still be brought by hand.
    readRunners(hub).then(setRunners, () => setRunners([]))
  }, [hub])
  return runners
}

function LaunchForm() {
  const store = useHubStore()
  const { query } = usePlace()
  const runners = useRunners()
  const online = useMemo(() => (runners ?? []).filter(({ connected }) => connected), [runners])
  const [machine, setMachine] = useState(query.get("runner") ?? "")
  const runner = online.find(({ id }) => id === machine) ?? online[0]
  const choices = agentChoices(runner)
  const [chosenAgent, setAgent] = useState<AgentChoice["value"] | undefined>(undefined)
  const agent = choices.find(({ value }) => value === chosenAgent) ?? choices[0]
  const [error, setError] = useState<{ field?: "cwd"; why: string } | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const [made, setMade] = useState<LaunchedSession | undefined>(undefined)
  const folder = useRef<HTMLInputElement>(null)
  const recents = useRecentFolders()
  const fork = query.get("fork") ?? undefined
  const resume = fork ?? query.get("resume") ?? undefined
  const needsFolder = agent?.value !== "external"

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const form = event.currentTarget
    const text = (name: string) => formText(form, name)
    const cwd = text("cwd")
    if (needsFolder && cwd === "" && resume === undefined) {
      setError({ field: "cwd", why: "Say in which folder it works." })
      return folder.current?.focus()
    }
    setBusy(true)
    setError(undefined)
    try {
      const session = await store.hub.launch({
        ...(agent === undefined ? {} : { agent: agent.value }),
        ...(cwd === "" || !needsFolder ? {} : { cwd }),
        ...(text("prompt") === "" ? {} : { prompt: text("prompt") }),
        ...(text("title") === "" ? {} : { title: text("title") }),
        ...(text("model") === "" ? {} : { model: text("model") }),
        ...(needsFolder && text("mode") !== "" ? { permissionMode: text("mode") } : {}),
        ...(runner !== undefined && needsFolder ? { runner: runner.id } : {}),
        ...(resume === undefined ? {} : { resume, ...(fork === undefined ? {} : { fork: true }) }),
      })
      store.takeSession(session)
      if (session.ingress === undefined) navigate(`/s/${session.id}`, { replace: true })
      else setMade(session)
    } catch (failure) {
      setError({ why: failure instanceof HubClientError ? failure.message : String(failure) })
      setBusy(false)
    }
  }

  if (runners === undefined) return null
  if (made?.ingress !== undefined) return <BringAgent session={made} command={made.ingress.command} />
  return (
    <form
      noValidate
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
      className="flex flex-col gap-4"
    >
      {resume !== undefined && (
        <Notice tone="info">
          {fork === undefined
            ? "Goes on with an earlier session."
            : "Goes on from an earlier session, as a session of its own."}
        </Notice>
      )}
      {online.length > 1 && (
        <fieldset>
          <legend className="mb-1 text-dense font-medium text-text-2">Machine</legend>
          <div className="flex flex-wrap gap-2">
            {(runners ?? []).map((one) => (
              <label
                key={one.id}
                className="flex min-h-9 items-center gap-2 rounded-control border border-line bg-surface px-3 coarse:min-h-11"
              >
                <input
                  type="radio"
                  name="machine"
                  disabled={!one.connected}
                  checked={one.id === runner?.id}
                  onChange={() => setMachine(one.id)}
                />
                {one.name}
                <span className="text-meta text-text-3">{one.connected ? `${one.agents} running` : "offline"}</span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {choices.length > 1 && (
        <fieldset>
          <legend className="mb-1 text-dense font-medium text-text-2">Agent</legend>
          <div className="flex flex-col gap-2">
            {choices.map((choice) => (
              <label
                key={choice.value}
                className="flex min-h-9 items-center gap-2 rounded-control border border-line bg-surface px-3 py-1 coarse:min-h-11"
              >
                <input
                  type="radio"
                  name="agent"
                  checked={choice.value === agent?.value}
                  onChange={() => setAgent(choice.value)}
                />
                <span>
                  {choice.label}
                  <span className="block text-meta text-text-3">{choice.note}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {runner === undefined && (
        <Notice tone="neutral">
          No machine with a runner is connected. An agent can be started by hand: you get a command to paste.
        </Notice>
      )}
      {needsFolder && (
        <>
          <TextField
            ref={folder}
            label="Folder"
            name="cwd"
            list="recent-folders"
            defaultValue={query.get("cwd") ?? recents[0] ?? ""}
            autoComplete="off"
            spellCheck={false}
            error={error?.field === "cwd" ? error.why : undefined}
            className="font-mono"
          />
          <datalist id="recent-folders">
            {recents.map((path) => (
              <option key={path} value={path} />
            ))}
          </datalist>
        </>
      )}
      <Field label="First message">
        {(ids) => <textarea {...ids} name="prompt" rows={4} placeholder="What should it do?" className={INPUT} />}
      </Field>
      <details>
        <summary className="text-dense font-medium text-text-2">More</summary>
        <div className="mt-2 grid gap-3 tablet:grid-cols-2">
          <TextField label="Title" name="title" autoComplete="off" maxLength={200} />
          {needsFolder && (
            <TextField label="Model" name="model" autoComplete="off" hint="Empty: as the machine is set up" />
          )}
          {needsFolder && (
            <Field label="Mode">
              {(ids) => (
                <Select
                  {...ids}
                  name="mode"
                  choices={[{ value: "", label: "As the machine is set up" }, ...modeChoices(null, false)]}
                />
              )}
            </Field>
          )}
        </div>
      </details>
      {error !== undefined && error.field === undefined && (
        <Notice tone="danger" alert>
          {error.why}
        </Notice>
      )}
      <div className="flex justify-end gap-3">
        <Button onClick={() => history.back()}>Cancel</Button>
        <Button look="primary" type="submit" aria-disabled={isBusy}>
          {isBusy
            ? "Starting…"
            : needsFolder
              ? `Start${runner === undefined ? "" : ` on ${runner.name}`}`
              : "Make a session"}
        </Button>
      </div>
    </form>
  )
}

/** For an agent that is started by hand: the command is shown this once. */
function BringAgent({ session, command }: { readonly session: LaunchedSession; readonly command: string }) {
  return (
    <div className="flex flex-col gap-3">
      <Notice tone="info">
        The session waits for its agent. Paste this into a terminal on any machine that reaches this hub.
      </Notice>
      <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-12 font-mono text-dense whitespace-pre-wrap">
        {command}
        <CopyButton text={command} label="Copy command" className="absolute top-1 right-1" />
      </div>
      <p className="text-dense text-text-2">The command holds a token of this session and is not shown again.</p>
      <div className="flex justify-end">
        <Button look="primary" onClick={() => navigate(`/s/${session.id}`, { replace: true })}>
          To the session
        </Button>
      </div>
    </div>
  )
}

function useRecentFolders(): readonly string[] {
  const { sessions } = useFleet()
  return useMemo(() => {
    const sorted = [...sessions.values()].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    return [...new Set(sorted.flatMap(({ cwd }) => cwd ?? []))].slice(0, 10)
  }, [sessions])
}
