import type { PolicySuggestions } from "@signalbox/client"
import { useState } from "react"
import { useCanOperate, useHub, useMe } from "../app/hub-context.ts"
import { useKeys } from "../app/keyboard.ts"
import { useLoaded } from "../app/loaded.ts"
import { Link, navigate, setQuery, usePlace } from "../app/router.tsx"
import { useRoving } from "../app/roving.ts"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { INPUT } from "../design/field.tsx"
import { PlusIcon } from "../design/icons.tsx"
import { Empty, Notice, WhenReady } from "../design/notice.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { PolicyFrame } from "./policy-frame.tsx"
import { PolicySettings } from "./policy-settings.tsx"
import { DeleteRule, RuleCard } from "./rule-card.tsx"
import { EFFECTS, effectOf, nameOf, type Rule } from "./rule-words.ts"
import { Suggestions } from "./suggestions.tsx"

/** From this many rules on, they can be filtered. */
const MANY_RULES = 8

/** The rules in force, by what they do, with what each did lately. */
export function RulesScreen() {
  const hub = useHub()
  const policy = useLoaded(() => hub.policy(), [hub])
  const { record, again } = useRecord()
  const changed = () => {
    policy.again()
    again()
  }
  const list = useRoving("[data-rule]")
  useKeys({ j: () => list.step(1), k: () => list.step(-1), t: () => navigate("/policy/test") })
  return (
    <PolicyFrame title="Policy">
      <WhenReady of={policy} what="the policy">
        {(told) => (
          <>
            <Rules rules={told.rules} record={record} onChanged={changed} listRef={list.ref} />
            {record !== undefined && <Suggestions suggestions={record.suggestions} />}
            <PolicySettings policy={told} onChanged={changed} />
          </>
        )}
      </WhenReady>
    </PolicyFrame>
  )
}

/** The rules' decisions of the last 30 days. Only operators may ask; without them, cards have no numbers. */
function useRecord(): { readonly record: PolicySuggestions | undefined; readonly again: () => void } {
  const hub = useHub()
  const canOperate = useCanOperate()
  const { state, again } = useLoaded(
    async () => (canOperate ? hub.policySuggestions({ since: "30d" }) : undefined),
    [hub, canOperate],
  )
  return { record: state.name === "ready" ? state.value : undefined, again }
}

interface RulesProps {
  readonly rules: readonly Rule[]
  readonly record: PolicySuggestions | undefined
  readonly onChanged: () => void
  readonly listRef: ReturnType<typeof useRoving>["ref"]
}

function Rules({ rules, record, onChanged, listRef }: RulesProps) {
  const isAdmin = useMe().role === "admin"
  const { query } = usePlace()
  const words = query.get("q") ?? ""
  const linked = query.get("rule")
  const [leaving, setLeaving] = useState<Rule | undefined>(undefined)
  const add = isAdmin && (
    <Button look="primary" onClick={() => navigate("/policy/edit")}>
      <PlusIcon size={16} />
      Add rule
    </Button>
  )
  const missing = linked !== null && !rules.some((rule) => nameOf(rule) === linked) && <Missing name={linked} />
  if (rules.length === 0) {
    return (
      <>
        {missing}
        <Empty action={add}>No rules yet. A person decides every request.</Empty>
      </>
    )
  }
  const shown = rules.filter((rule) => JSON.stringify(rule).toLowerCase().includes(words.toLowerCase()))
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-64 text-text-2">
          Deny beats ask, ask beats allow. Where no rule fits, a person decides.
        </p>
        {rules.length >= MANY_RULES && (
          <input
            type="search"
            aria-label="Filter rules"
            placeholder="Filter rules"
            value={words}
            onChange={(event) => setQuery({ q: event.target.value })}
            className={classes(INPUT, "max-w-60")}
          />
        )}
        {add}
      </div>
      {missing}
      <div ref={listRef} className="contents">
        {EFFECTS.map(({ effect, outcome, look }) => {
          const own = shown.filter((rule) => effectOf(rule["effect"]) === effect)
          if (own.length === 0) return null
          return (
            <section key={effect} className="flex flex-col gap-2">
              <h2 className={classes("text-dense font-bold", look)}>{outcome}</h2>
              <ul aria-label={outcome} className="flex flex-col gap-2">
                {own.map((rule) => (
                  <RuleCard
                    key={nameOf(rule)}
                    rule={rule}
                    record={record}
                    isLinked={nameOf(rule) === linked}
                    onDelete={() => setLeaving(rule)}
                  />
                ))}
              </ul>
            </section>
          )
        })}
      </div>
      {shown.length === 0 && <p className="text-text-2">No rule matches “{words}”.</p>}
      {isAdmin && <DeleteRule rule={leaving} onClose={() => setLeaving(undefined)} onDeleted={onChanged} />}
    </>
  )
}

function Missing({ name }: { readonly name: string }) {
  return (
    <Notice tone="neutral">
      <span>
        Rule <VisibleText text={name} /> isn't in force. It may have been renamed or deleted:{" "}
        <Link href="/policy/versions" className="text-accent underline">
          see versions
        </Link>
        .
      </span>
    </Notice>
  )
}
