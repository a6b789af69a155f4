import { evaluate, type Verdict } from "@signalbox/policy"
import { defined } from "@signalbox/protocol"
import type { Backtest, BacktestDifference, PolicySuggestions } from "@signalbox/protocol/hub-api"
import { HubError, unknown } from "./errors.ts"
import type { PolicyDesk, PutHow, RuleUses } from "./policy-desk.ts"
import { readPolicy, writtenPolicy } from "./policy-document.ts"
import type { BacktestStep, Backtests } from "./store/backtest.ts"
import type { Directory } from "./store/directory.ts"

interface PolicyTestsOptions {
  readonly policy: Pick<PolicyDesk, "policy" | "put">
  readonly backtests: Pick<Backtests, "run">
  readonly directory: Pick<Directory, "listAsks" | "getSession">
  readonly uses: Pick<RuleUses, "read">
}

interface TestedPolicy {
  readonly policy: unknown
  readonly since?: string
  readonly limit: number
}

interface Explained {
  readonly policy?: unknown
  readonly request: {
    readonly tool: string
    readonly input: Readonly<Record<string, unknown>>
    readonly session?: string
    readonly cwd?: string
    readonly mode?: string
    readonly runner?: string
    readonly branch?: string
  }
}

const REFUSAL_EXAMPLES = 20
/** Forced without knowing against what. */
const UNCHECKED: BacktestDifference = { count: 0, examples: [] }
const SUGGEST_MS = 30 * 24 * 60 * 60 * 1000

/** Policies held against what was asked in the past, before they are put in force. */
export class PolicyTests {
  readonly #options: PolicyTestsOptions

  constructor(options: PolicyTestsOptions) {
    this.#options = options
  }

  test({ policy, since, limit }: TestedPolicy, signal?: AbortSignal): AsyncGenerator<BacktestStep<Backtest>> {
    const { backtests, policy: desk } = this.#options
    const proposed = writtenPolicy(policy)
    return backtests.run({ kind: "test", inForce: desk.policy, proposed, since, maxExamples: limit }, signal)
  }

  /** As if it came now; of a session, on the machine and the branch that it is on, and with what it has used up of rules. */
  async explain({
    policy,
    request,
  }: Explained): Promise<Verdict & { readonly span?: unknown; readonly path?: string }> {
    const { tool, input, session = "", cwd, mode } = request
    const { directory, policy: desk, uses } = this.#options
    const judged = policy === undefined ? desk.policy : (await readPolicy(policy)).policy
    const record = (await directory.getSession(session))?.record
    if (record === undefined && session !== "") throw unknown("session", session)
    // A session that runs on no machine is known to.
    const runner = request.runner ?? (record === undefined ? undefined : (record.runner ?? ""))
    const branch = request.branch ?? record?.branch
    const context = { session, cwd, mode, runner, branch, now: Date.now(), used: await uses.read(session) }
    const verdict = evaluate(judged, { tool, input }, context)
    const { span, field: path } = verdict.why
    return { ...verdict, ...defined({ span, path }) }
  }

  suggestions({ since }: { since?: string }, signal?: AbortSignal): Promise<PolicySuggestions> {
    const { backtests, policy } = this.#options
    const from = since ?? new Date(Date.now() - SUGGEST_MS).toISOString()
    return resultOf(backtests.run({ kind: "suggest", inForce: policy.policy, since: from }, signal))
  }

  /** Puts a policy in force, unless it would allow what a person denied and nobody forces it. */
  async put(value: unknown, { force, ...how }: PutHow & { force: boolean }, signal?: AbortSignal): Promise<void> {
    // A policy that cannot be read is told as such, whatever it contradicts.
    const proposed = await readPolicy(value)
    const checked = this.#contradictions(proposed.policy, signal)
    // A forced policy is put in force also when it cannot be checked: it may have to forbid something at once.
    const contradicts = await (force ? checked.catch(() => UNCHECKED) : checked)
    if (contradicts.count > 0 && !force) throw contradicting(contradicts)
    const isForced = contradicts.count > 0 || contradicts === UNCHECKED
    await this.#options.policy.put(proposed, { ...how, forced: isForced ? contradicts : undefined })
  }

  async #contradictions(proposed: unknown, signal?: AbortSignal): Promise<BacktestDifference> {
    const { backtests, policy, directory } = this.#options
    const denied = await directory.listAsks({ state: "denied", limit: 1 })
    if (denied.length === 0) return { count: 0, examples: [] }
    const job = { kind: "denied", inForce: policy.policy, proposed, maxExamples: REFUSAL_EXAMPLES } as const
    const { contradicts, complete } = await resultOf(backtests.run(job, signal))
    if (complete) return contradicts
    throw new HubError("hub/busy", "The policy could not be held against all that people denied: try again later.", {
      details: { retryAfterSeconds: 60 },
    })
  }
}

/** The result without the way to it. */
export async function resultOf<Result>(steps: AsyncIterable<BacktestStep<Result>>): Promise<Result> {
  for await (const step of steps) if ("result" in step) return step.result
  throw new Error("a test ended without a result")
}

function contradicting(contradicts: BacktestDifference): HubError {
  const { count } = contradicts
  const requests = count === 1 ? "a request that a person denied" : `${count} requests that people denied`
  const message = `This policy would allow ${requests}: change it, or put it with ?force=true`
  return new HubError("policy/contradicts", message, { details: { contradicts } })
}
