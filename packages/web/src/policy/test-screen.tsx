import type { Hub, PolicyVerdict } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { type FormEvent, useEffect, useRef, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { useLoaded, whyOf } from "../app/loaded.ts"
import { setQuery, usePlace } from "../app/router.tsx"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Field, INPUT, Select, TextField } from "../design/field.tsx"
import { Trouble } from "../design/notice.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { summaryOf } from "../fleet/ask-words.ts"
import { DecidingText, WhyNote } from "../fleet/verdict.tsx"
import { PolicyFrame } from "./policy-frame.tsx"
import { wordsOfEffect } from "./rule-words.ts"

/** A request to try the rules on, as it is typed. */
interface Tried {
  readonly tool: string
  /** JSON; for Bash a bare command will do. */
  readonly input: string
  readonly cwd: string
  readonly mode: string
  readonly session?: string
}

const EMPTY: Tried = { tool: "Bash", input: "", cwd: "", mode: "" }

/** Asks the rules in force about one request: a recent one (`?ask=`), or one that is typed in. */
export function TestScreen() {
  const { query } = usePlace()
  const chosen = query.get("ask") ?? ""
  const hub = useHub()
  const recent = useLoaded(() => hub.asks({ order: "newest", limit: 50 }), [hub])
  const asked = useLoaded(async () => (chosen === "" ? undefined : triedOf(hub, chosen)), [hub, chosen])
  const asks = recent.state.name === "ready" ? recent.state.value.filter(({ toolName }) => toolName !== undefined) : []
  const known = asked.state.name === "ready" ? asked.state.value : undefined
  return (
    <PolicyFrame title="Test a request">
      <Field label="Recent request">
        {(ids) => (
          <Select
            {...ids}
            value={chosen}
            onChange={(event) => setQuery({ ask: event.target.value })}
            choices={[
              { value: "", label: "None: enter one below" },
              ...asks.map((one) => ({ value: one.id, label: summaryOf(one) })),
              ...(chosen === "" || asks.some(({ id }) => id === chosen)
                ? []
                : [{ value: chosen, label: known?.words ?? chosen }]),
            ]}
            className="w-full truncate"
          />
        )}
      </Field>
      <Trouble onRetry={asked.again}>{asked.state.name === "failed" && `Couldn't load it: ${asked.state.why}`}</Trouble>
      {chosen === "" ? (
        <Tester key="typed" start={EMPTY} />
      ) : (
        known !== undefined && <Tester key={chosen} start={known.tried} isTriedAtOnce />
      )}
    </PolicyFrame>
  )
}

/** A request of the past, with the folder and the mode that its session has now. */
async function triedOf(hub: Hub, id: string): Promise<{ readonly words: string; readonly tried: Tried }> {
  const ask = await hub.ask(id)
  const { cwd, permissionMode } = await hub.session(ask.sessionId).get()
  const tried = {
    tool: ask.toolName ?? "",
    input: JSON.stringify(ask.input ?? {}, null, 2),
    cwd: cwd ?? "",
    mode: permissionMode ?? "",
    session: ask.sessionId,
  }
  return { words: summaryOf(ask), tried }
}

type Problem = { readonly field: "tool" | "input"; readonly words: string }
type State =
  | { readonly name: "open"; readonly problem?: Problem }
  | { readonly name: "asking" }
  | { readonly name: "told"; readonly verdict: PolicyVerdict; readonly input: Readonly<Record<string, unknown>> }
  | { readonly name: "failed"; readonly why: string }

function Tester({ start, isTriedAtOnce = false }: { readonly start: Tried; readonly isTriedAtOnce?: boolean }) {
  const hub = useHub()
  const [tried, setTried] = useState(start)
  const [state, setState] = useState<State>({ name: "open" })
  const form = useRef<HTMLFormElement>(null)
  const problem = state.name === "open" ? state.problem : undefined

  async function explain(): Promise<void> {
    const read = requestOf(tried)
    if ("problem" in read) return setState({ name: "open", problem: read.problem })
    const { request } = read
    setState({ name: "asking" })
    try {
      const verdict = await hub.explainPolicy({ request })
      setState({ name: "told", verdict, input: request.input })
    } catch (error) {
      setState({ name: "failed", why: whyOf(error) })
    }
  }
  const atOnce = useRef(isTriedAtOnce ? explain : undefined)
  useEffect(() => {
    void atOnce.current?.()
    atOnce.current = undefined
  }, [])
  useEffect(() => {
    if (problem !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problem])
  const set = (changes: Partial<Tried>) => setTried({ ...tried, ...changes })
  const errorAt = (field: Problem["field"]) => (problem?.field === field ? problem.words : undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void explain()
  }
  return (
    <>
      <form ref={form} noValidate onSubmit={submit} className="grid gap-4 tablet:grid-cols-3">
        <TextField
          label="Tool"
          value={tried.tool}
          error={errorAt("tool")}
          onChange={(event) => set({ tool: event.target.value })}
          autoComplete="off"
          spellCheck={false}
          className="font-mono"
        />
        <TextField
          label="Folder"
          value={tried.cwd}
          onChange={(event) => set({ cwd: event.target.value })}
          autoComplete="off"
          spellCheck={false}
          className="font-mono"
        />
        <TextField
          label="Mode"
          value={tried.mode}
          onChange={(event) => set({ mode: event.target.value })}
          autoComplete="off"
          spellCheck={false}
          className="font-mono"
        />
        <div className="tablet:col-span-3">
          <Field label="Input" hint="JSON. For Bash, the command alone will do." error={errorAt("input")}>
            {(ids) => (
              <textarea
                {...ids}
                rows={Math.min(12, Math.max(3, tried.input.split("\n").length))}
                spellCheck={false}
                value={tried.input}
                onChange={(event) => set({ input: event.target.value })}
                className={classes(INPUT, "font-mono")}
              />
            )}
          </Field>
        </div>
        <Button look="primary" type="submit" className="justify-self-start" aria-disabled={state.name === "asking"}>
          Test request
        </Button>
      </form>
      {state.name === "failed" && <Trouble onRetry={() => void explain()}>Couldn't test: {state.why}</Trouble>}
      {state.name === "told" && <Verdict verdict={state.verdict} input={state.input} />}
    </>
  )
}

/** As the hub wants it, or what is wrong with it. */
function requestOf({ tool, input, cwd, mode, session }: Tried) {
  const name = tool.trim()
  const value = inputOf(name, input)
  const wrong = (field: Problem["field"], words: string) => ({ problem: { field, words } })
  if (name === "") return wrong("tool", "Enter a tool, such as Bash.")
  if (value === undefined) return wrong("input", "Must be a JSON object: { … }")
  const request = {
    tool: name,
    input: value,
    ...(cwd.trim() === "" ? {} : { cwd: cwd.trim() }),
    ...(mode.trim() === "" ? {} : { mode: mode.trim() }),
    ...(session === undefined ? {} : { session }),
  }
  return { request }
}

function inputOf(tool: string, text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // A bare command is no JSON.
  }
  return tool === "Bash" && text.trim() !== "" && !text.trim().startsWith("{") ? { command: text } : undefined
}

interface VerdictProps {
  readonly verdict: PolicyVerdict
  readonly input: Readonly<Record<string, unknown>>
}

/** The verdict, its reason, and the part of the input that decided. */
function Verdict({ verdict, input }: VerdictProps) {
  const { effect, rule, reason, why, message } = verdict
  const { outcome, look } = wordsOfEffect(effect)
  return (
    <section
      role="status"
      aria-label="Verdict"
      className="flex flex-col gap-2 rounded-card border border-line bg-surface px-4 py-3"
    >
      <p className="flex flex-wrap gap-x-2">
        <strong className={classes("font-bold", look)}>{outcome}</strong>
        {rule === undefined && <span className="text-text-2">No rule</span>}
      </p>
      <p>
        <WhyNote reason={reason} why={why} />
      </p>
      <DecidingText why={why} input={input} />
      {message !== undefined && (
        <p className="text-text-2">
          Claude is told: <VisibleText text={message} />
        </p>
      )}
    </section>
  )
}
