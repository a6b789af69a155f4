import type { Hub } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { Link } from "../app/router.tsx"
import { Notice } from "../design/notice.tsx"
import { oneLine, VisibleText } from "../design/visible-text.tsx"
import { ruleAddress, summaryOf } from "../fleet/ask-words.ts"
import { policyNow } from "./change-review.tsx"
import { namedAfter } from "./rule-form.ts"
import { effectOf, nameOf, type Rule } from "./rule-words.ts"

/** The request that a rule is made from. */
interface Origin {
  readonly ask: string
  readonly words: string
  readonly isProposed: boolean
  /** The rule in force that stopped it and beats every allow rule. */
  readonly stoppedBy?: Rule
}

/** A rule to begin with, and where it comes from. */
export interface Start {
  readonly rule: Rule
  /** The name of the rule in force that it takes the place of. */
  readonly original?: string
  readonly from?: Origin
  readonly taken: ReadonlySet<string>
}

/** The rule that the address asks for: a copy of one in force, one proposed from a request, a suggestion, or an empty one. */
export async function startOf(hub: Hub, query: URLSearchParams): Promise<Start> {
  const { rules } = await policyNow(hub)
  const original = query.get("rule")
  const taken = new Set(rules.map(nameOf))
  if (original !== null) {
    const rule = rules.find((one) => nameOf(one) === original)
    if (rule === undefined) throw new Error(`no rule is called ${original}`)
    taken.delete(original)
    return { rule, original, taken }
  }
  const ask = query.get("ask")
  if (ask !== null) return proposed(hub, ask, rules)
  const draft = parsed(query.get("draft") ?? "")
  if (draft === undefined) return { rule: { effect: "allow" }, taken }
  const isFree = nameOf(draft) !== "" && !taken.has(nameOf(draft))
  return { rule: isFree ? draft : { ...draft, id: namedAfter(draft, taken) }, taken }
}

/** The narrowest rule that would have allowed a request. The policy package proposes it; its code comes only now. */
async function proposed(hub: Hub, id: string, rules: readonly Rule[]): Promise<Start> {
  const taken = new Set(rules.map(nameOf))
  const [ask, { policyRequestOf, proposeRule }] = await Promise.all([hub.ask(id), import("@signalbox/policy")])
  const { cwd } = await hub.session(ask.sessionId).get()
  const request = policyRequestOf(ask.request)
  const context = { session: ask.sessionId, ...(cwd === null ? {} : { cwd }) }
  const found = request === undefined ? undefined : proposeRule("new", [{ request, context }])
  const rule: Rule = found ?? { effect: "allow", ...(request === undefined ? {} : { tool: request.tool }) }
  const stoppedBy = rules.find((one) => nameOf(one) === ask.rule && effectOf(one["effect"]) !== "allow")
  const from = {
    ask: id,
    words: summaryOf(ask),
    isProposed: found !== undefined,
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
  }
  return { rule: { ...rule, id: namedAfter(rule, taken) }, from, taken }
}

export function parsed(text: string): Rule | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Names the request that the rule is made from. */
export function FromRequest({ ask, words, isProposed, stoppedBy }: Origin) {
  return (
    <>
      {stoppedBy !== undefined && <Stopped by={stoppedBy} />}
      <Notice tone={isProposed ? "info" : "caution"}>
        <span>
          {isProposed
            ? "The narrowest rule that allows this request: "
            : "No narrow rule can be proposed. Describe what to allow: "}
          <Link href={`/requests/${encodeURIComponent(ask)}`} className="font-mono text-dense underline">
            <bdi>{oneLine(words, 120)}</bdi>
          </Link>
        </span>
      </Notice>
    </>
  )
}

/** No allow rule helps against a rule that asks or denies. */
function Stopped({ by }: { readonly by: Rule }) {
  const name = nameOf(by)
  const isAsk = effectOf(by["effect"]) === "ask"
  return (
    <Notice tone="caution">
      <span>
        An allow rule changes nothing here: rule{" "}
        <Link href={ruleAddress(name)} className="underline">
          <VisibleText text={name} />
        </Link>{" "}
        {isAsk ? "asks about this request, and ask beats allow." : "stops this request, and deny beats allow."}{" "}
        <Link href={`/policy/edit?${new URLSearchParams({ rule: name }).toString()}`} className="underline">
          Edit that rule
        </Link>{" "}
        instead.
      </span>
    </Notice>
  )
}
