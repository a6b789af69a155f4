import type { PolicySuggestions } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useCallback, useEffect, useRef } from "react"
import { useNow } from "../app/clock.ts"
import { useMe } from "../app/hub-context.ts"
import { Link, navigate } from "../app/router.tsx"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Dialog } from "../design/dialog.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { age, plural } from "../design/words.ts"
import { ChangeReview, type Policy } from "./change-review.tsx"
import { Sentence } from "./policy-frame.tsx"
import { nameOf, type Rule, sentenceOf } from "./rule-words.ts"

interface RuleCardProps {
  readonly rule: Rule
  readonly record: PolicySuggestions | undefined
  /** The address names it. */
  readonly isLinked: boolean
  readonly onDelete: () => void
}

export function RuleCard({ rule, record, isLinked, onDelete }: RuleCardProps) {
  const isAdmin = useMe().role === "admin"
  const card = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!isLinked) return
    card.current?.scrollIntoView({ block: "center" })
    card.current?.focus({ preventScroll: true })
  }, [isLinked])
  const name = nameOf(rule)
  const reason = textOf(rule, "reason")
  const message = textOf(rule, "message")
  const query = new URLSearchParams({ rule: name }).toString()
  return (
    <li
      ref={card}
      tabIndex={-1}
      data-rule={name}
      className={classes(
        "flex flex-col gap-1 rounded-card border bg-surface px-4 py-3 shadow-control",
        isLinked ? "border-accent" : "border-line",
      )}
    >
      <div className="flex items-center gap-3">
        <h3 className="min-w-0 flex-1 font-medium">
          <bdi>{name}</bdi>
        </h3>
        {isAdmin && (
          <span className="-my-1 -me-2 flex shrink-0">
            <Button look="quiet" aria-label={`Edit ${name}`} onClick={() => navigate(`/policy/edit?${query}`)}>
              Edit
            </Button>
            <Button look="quiet" aria-label={`Delete ${name}`} onClick={onDelete}>
              Delete
            </Button>
          </span>
        )}
      </div>
      <p>
        <Sentence phrases={sentenceOf(rule)} />
      </p>
      {reason !== undefined && <VisibleText as="p" className="text-text-2" text={reason} />}
      {message !== undefined && (
        <p className="text-text-2">
          Claude is told: <VisibleText text={message} />
        </p>
      )}
      <p className="flex flex-wrap items-center gap-x-3 text-meta text-text-3">
        {record !== undefined && <Did name={name} record={record} />}
        <Link href={`/audit?${query}`} className="inline-flex min-h-6 items-center underline coarse:min-h-11">
          Decisions in the audit
        </Link>
      </p>
    </li>
  )
}

function Did({ name, record }: { readonly name: string; readonly record: PolicySuggestions }) {
  const now = useNow()
  const did = record.decided.find(({ rule }) => rule === name)
  if (did !== undefined && did.count > 0) {
    return (
      <span className="tabular-nums">
        Decided {plural(did.count, "request")} in 30 days, last {age(Date.parse(did.lastAt), now)} ago
      </span>
    )
  }
  const why = record.idle.find(({ rule }) => rule === name)?.why
  if (why === undefined) return null
  return why === "expired" ? <span className="text-caution">Expired</span> : <span>Unused in 30 days</span>
}

interface DeleteRuleProps {
  readonly rule: Rule | undefined
  readonly onClose: () => void
  readonly onDeleted: () => void
}

export function DeleteRule({ rule, onClose, onDeleted }: DeleteRuleProps) {
  const name = rule === undefined ? "" : nameOf(rule)
  const change = useCallback(
    (policy: Policy) => ({ ...policy, rules: policy.rules.filter((other) => nameOf(other) !== name) }),
    [name],
  )
  const saved = () => {
    onClose()
    onDeleted()
    // The button that the focus would return to goes with its card.
    requestAnimationFrame(() => document.getElementById("main")?.focus())
  }
  return (
    <Dialog title={`Delete ${name}?`} open={rule !== undefined} onClose={onClose} className="max-w-2xl">
      <div className="flex flex-col gap-3 overflow-y-auto px-4 pb-4">
        {rule !== undefined && (
          <>
            <p>
              <Sentence phrases={sentenceOf(rule)} />
            </p>
            <ChangeReview
              change={change}
              action="Delete rule"
              look="danger"
              isTestedAtOnce
              onSaved={saved}
              onCancel={onClose}
            />
          </>
        )}
      </div>
    </Dialog>
  )
}
