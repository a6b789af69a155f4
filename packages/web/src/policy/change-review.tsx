import { type Backtest, HubClientError } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react"
import { announce } from "../app/announcer.tsx"
import { useCanOperate, useHub } from "../app/hub-context.ts"
import { whyOf } from "../app/loaded.ts"
import { Button } from "../design/button.tsx"
import { Notice, Trouble } from "../design/notice.tsx"
import { plural } from "../design/words.ts"
import { BacktestLists, ExampleList } from "./backtest-lists.tsx"
import type { Rule } from "./rule-words.ts"

/** A policy as it is put. */
export type Policy = Readonly<Record<string, unknown>> & { readonly rules: readonly Rule[] }

/** Made on the policy that is in force when it is saved: what somebody else changed meanwhile stays. */
type PolicyChange = (policy: Policy) => Policy

type Contradicted = Backtest["contradicts"]

type Saving =
  | { readonly name: "open" }
  | { readonly name: "saving" }
  | { readonly name: "failed"; readonly why: string }
  /** It would allow what people denied. */
  | { readonly name: "contradicts"; readonly denied: Contradicted }

type Testing =
  | { readonly name: "none" }
  | { readonly name: "testing"; readonly judged: number; readonly total: number }
  | { readonly name: "tested"; readonly result: Backtest; readonly change: PolicyChange }
  | { readonly name: "failed"; readonly why: string }

interface ChangeReviewProps {
  readonly change: PolicyChange
  /** The words on the button that saves. */
  readonly action: string
  readonly look?: "primary" | "danger"
  /** Tested as soon as it is shown. */
  readonly isTestedAtOnce?: boolean
  /** Asked before anything is sent: false keeps it from being sent. */
  readonly isReady?: () => boolean
  /** Problems of the policy that the hub found, in sentences. */
  readonly onProblems?: (problems: readonly string[]) => void
  readonly onSaved: () => void
  readonly onCancel: () => void
}

/** Shows how a change would have decided past requests, with the button that makes it. */
export function ChangeReview(props: ChangeReviewProps) {
  const { change, action, look = "primary", isTestedAtOnce = false, isReady, onSaved, onCancel } = props
  const hub = useHub()
  const canTest = useCanOperate()
  const saveButton = useRef<HTMLButtonElement>(null)
  const [saving, setSaving] = useState<Saving>({ name: "open" })
  const takeProblems = useProblems(props.onProblems)
  const { testing, test } = useBacktest(change, takeProblems)
  const canSend = () => isReady === undefined || isReady()
  useTestAtOnce(isTestedAtOnce && canTest, test)
  // A list of contradictions is about the change it was told for.
  useEffect(() => setSaving({ name: "open" }), [change])

  async function save(force: boolean): Promise<void> {
    if (saving.name === "saving" || !canSend()) return
    setSaving({ name: "saving" })
    try {
      const now = await policyNow(hub)
      await hub.setPolicy(change(now), { force, version: now.version })
      announce("Policy saved")
      setSaving({ name: "open" })
      onSaved()
    } catch (error) {
      setSaving(refusalOf(error, takeProblems))
    }
  }

  return (
    <div className="flex min-w-0 flex-col gap-4">
      {saving.name === "contradicts" ? (
        <Contradiction
          denied={saving.denied}
          onForce={() => void save(true)}
          onBack={() => {
            setSaving({ name: "open" })
            // The list had the focus, and goes.
            requestAnimationFrame(() => saveButton.current?.focus())
          }}
        />
      ) : (
        <div className="flex flex-wrap gap-3">
          <Button
            ref={saveButton}
            look={look}
            aria-disabled={saving.name === "saving"}
            onClick={() => void save(false)}
          >
            {saving.name === "saving" ? "Saving…" : action}
          </Button>
          {canTest && (
            <Button aria-disabled={testing.name === "testing"} onClick={() => canSend() && test()}>
              Test on past requests
            </Button>
          )}
          <Button look="quiet" onClick={onCancel}>
            Cancel
          </Button>
        </div>
      )}
      <Trouble>{saving.name === "failed" && `Not saved: ${saving.why}`}</Trouble>
      {saving.name !== "contradicts" && <Tested testing={testing} change={change} onRetry={test} />}
    </div>
  )
}

/** The policy in force, as it can be put back. */
export async function policyNow(hub: ReturnType<typeof useHub>): Promise<Policy & { readonly version: number }> {
  const { sees: _told, ...policy } = await hub.policy()
  return policy
}

function useProblems(onProblems: ChangeReviewProps["onProblems"]) {
  const latest = useRef(onProblems)
  latest.current = onProblems
  /** The rest of an error, once its problems are told at their fields. */
  return useCallback((error: unknown): string | undefined => {
    const problems = error instanceof HubClientError ? error.details["problems"] : undefined
    if (latest.current === undefined || !Array.isArray(problems)) return whyOf(error)
    latest.current(problems.map(String))
    return undefined
  }, [])
}

function refusalOf(error: unknown, takeProblems: (error: unknown) => string | undefined): Saving {
  const denied =
    error instanceof HubClientError && error.code === "policy/contradicts" ? error.details["contradicts"] : undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub's own list: the contract says what it is
  if (isObject(denied)) return { name: "contradicts", denied: denied as unknown as Contradicted }
  const why = takeProblems(error)
  return why === undefined ? { name: "open" } : { name: "failed", why }
}

function useBacktest(change: PolicyChange, takeProblems: (error: unknown) => string | undefined) {
  const hub = useHub()
  const [testing, setTesting] = useState<Testing>({ name: "none" })
  const ending = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => ending.current?.abort(), [])
  const test = useCallback(() => {
    ending.current?.abort()
    const { signal } = (ending.current = new AbortController())
    setTesting({ name: "testing", judged: 0, total: 0 })
    const tell = (next: Testing) => {
      if (!signal.aborted) setTesting(next)
    }
    const run = async () => {
      try {
        const onProgress = (progress: { readonly judged: number; readonly total: number }) =>
          tell({ name: "testing", ...progress })
        const policy = change(await policyNow(hub))
        tell({ name: "tested", result: await hub.testPolicy(policy, { since: "30d", signal, onProgress }), change })
      } catch (error) {
        if (signal.aborted) return
        const why = takeProblems(error)
        tell(why === undefined ? { name: "none" } : { name: "failed", why })
      }
    }
    void run()
  }, [hub, change, takeProblems])
  return { testing, test }
}

/** Once: later changes are tested when somebody asks for it. */
function useTestAtOnce(isWanted: boolean, test: () => void): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (!isWanted || isDone.current) return
    isDone.current = true
    test()
  }, [isWanted, test])
}

interface TestedProps {
  readonly testing: Testing
  readonly change: PolicyChange
  readonly onRetry: () => void
}

function Tested({ testing, change, onRetry }: TestedProps): ReactNode {
  switch (testing.name) {
    case "none":
      return null
    case "testing":
      return (
        <p role="status" className="text-text-2 tabular-nums">
          {testing.total === 0
            ? "Testing…"
            : `Testing… ${testing.judged.toLocaleString("en")} of ${testing.total.toLocaleString("en")}`}
        </p>
      )
    case "failed":
      return <Trouble onRetry={onRetry}>Couldn't test: {testing.why}</Trouble>
    case "tested":
      return (
        <>
          {testing.change !== change && <Notice tone="neutral">You changed the rule after this test.</Notice>}
          <BacktestLists result={testing.result} />
        </>
      )
  }
}

interface ContradictionProps {
  readonly denied: Contradicted
  readonly onForce: () => void
  readonly onBack: () => void
}

/** Saving was refused: people denied what this would allow. */
function Contradiction({ denied, onForce, onBack }: ContradictionProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  return (
    <div
      ref={box}
      tabIndex={-1}
      role="alert"
      className="flex flex-col gap-3 rounded-card border border-danger/40 bg-danger-soft p-4"
    >
      <p className="font-medium text-danger">
        Not saved: this would allow {plural(denied.count, "request")} that a person denied.
      </p>
      <ExampleList label="Denied by a person" list={denied} />
      <p className="text-dense text-text-2">Saving anyway is recorded in the audit.</p>
      <div className="flex flex-wrap gap-3">
        <Button onClick={onBack}>Keep editing</Button>
        <Button look="danger" onClick={onForce}>
          Save anyway
        </Button>
      </div>
    </div>
  )
}
