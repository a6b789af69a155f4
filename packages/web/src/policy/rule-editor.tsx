import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import { useHub, useMe } from "../app/hub-context.ts"
import { useLoaded } from "../app/loaded.ts"
import { navigate, usePlace } from "../app/router.tsx"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Field, INPUT } from "../design/field.tsx"
import { Empty, Trouble, WhenReady } from "../design/notice.tsx"
import { ruleAddress } from "../fleet/ask-words.ts"
import { ChangeReview, type Policy } from "./change-review.tsx"
import { PolicyFrame, Sentence } from "./policy-frame.tsx"
import { RuleFields } from "./rule-fields.tsx"
import { formOf, hubProblems, type Problems, problemsIn, type RuleForm, ruleOf } from "./rule-form.ts"
import { FromRequest, parsed, type Start, startOf } from "./rule-start.tsx"
import { nameOf, type Rule, sentenceOf } from "./rule-words.ts"

/** A new rule, one that is changed (`?rule=`), one made from a request (`?ask=`) or from a suggestion (`?draft=`). */
export function RuleEditor() {
  const { query } = usePlace()
  const hub = useHub()
  const isAdmin = useMe().role === "admin"
  const wish = query.toString()
  const start = useLoaded(() => startOf(hub, new URLSearchParams(wish)), [hub, wish])
  if (!isAdmin) {
    return (
      <PolicyFrame title="Rule">
        <Empty action={<Button onClick={() => navigate("/policy")}>Show rules</Button>}>
          Only admins change rules.
        </Empty>
      </PolicyFrame>
    )
  }
  return (
    <PolicyFrame title={query.has("rule") ? "Edit rule" : "New rule"}>
      <WhenReady of={start} what="the rule">
        {(value) => <Editor key={wish} start={value} wish={wish} />}
      </WhenReady>
    </PolicyFrame>
  )
}

/** Edits that were not saved, by address: they are there again after a slip, as long as the page is open. */
const kept = new Map<string, RuleForm>()
const MAX_KEPT = 20
const NONE: Problems = new Map()

function Editor({ start, wish }: { readonly start: Start; readonly wish: string }) {
  const { original, from, taken } = start
  const [form, setForm] = useState(() => kept.get(wish) ?? formOf(start.rule))
  const [json, setJson] = useState<string | undefined>(undefined)
  const [problems, setProblems] = useState<Problems>(NONE)
  const element = useFocusOnProblem(problems)
  const rule = useMemo(() => (json === undefined ? ruleOf(form) : (parsed(json) ?? {})), [form, json])
  const { change, placeNow } = useChange(rule, original)

  function edit(next: RuleForm): void {
    setForm(next)
    if (kept.size < MAX_KEPT) kept.set(wish, next)
  }
  function leave(to: string): void {
    kept.delete(wish)
    navigate(to)
  }
  function isReady(): boolean {
    const found = json === undefined ? problemsIn(form, taken) : jsonProblems(json)
    setProblems(found)
    return found.size === 0
  }
  const takeProblems = (told: readonly string[]) => {
    if (json !== undefined) return setProblems(new Map([["json", told.join(" ")]]))
    return setProblems(hubProblems(told, rule, placeNow()))
  }
  return (
    <div ref={element} className="grid items-start gap-x-8 gap-y-6 desktop:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
      <section aria-label={original === undefined ? "New rule" : "Edit rule"} className="flex min-w-0 flex-col gap-4">
        {from !== undefined && <FromRequest {...from} />}
        <Trouble>{problems.get("")}</Trouble>
        {json === undefined ? (
          <RuleFields form={form} problems={problems} onChange={edit} />
        ) : (
          <JsonField text={json} error={problems.get("json")} onChange={setJson} />
        )}
        <Button
          look="quiet"
          className="self-start"
          onClick={() => {
            setProblems(NONE)
            if (json === undefined) return setJson(JSON.stringify(rule, null, 2))
            if (!isReady()) return
            edit(formOf(rule))
            setJson(undefined)
          }}
        >
          {json === undefined ? "Edit as JSON" : "Edit as form"}
        </Button>
      </section>
      <section aria-label="Review" className="flex min-w-0 flex-col gap-4 desktop:sticky desktop:top-0">
        <p className="rounded-card border border-line bg-surface px-4 py-3">
          <Sentence phrases={sentenceOf(rule)} />
        </p>
        <ChangeReview
          change={change}
          action={original === undefined ? "Add rule" : "Save rule"}
          isTestedAtOnce={from?.isProposed === true || wish.startsWith("draft=")}
          isReady={isReady}
          onProblems={takeProblems}
          onSaved={() => leave(ruleAddress(nameOf(rule)))}
          onCancel={() => leave("/policy")}
        />
      </section>
    </div>
  )
}

/** Puts a rule into a policy: in the place of the one it changes, else at the end. */
function useChange(rule: Rule, original: string | undefined) {
  const place = useRef(0)
  const change = useCallback(
    (policy: Policy) => {
      const at = policy.rules.findIndex((other) => nameOf(other) === original)
      place.current = at === -1 ? policy.rules.length : at
      return { ...policy, rules: policy.rules.toSpliced(place.current, at === -1 ? 0 : 1, rule) }
    },
    [rule, original],
  )
  return { change, placeNow: () => place.current }
}

/** The first field that something is wrong with gets the focus. */
function useFocusOnProblem(problems: Problems) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (problems.size > 0) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [problems])
  return element
}

function jsonProblems(text: string): Problems {
  return parsed(text) === undefined ? new Map([["json", "Must be a JSON object: { … }"]]) : NONE
}

interface JsonFieldProps {
  readonly text: string
  readonly error: string | undefined
  readonly onChange: (text: string) => void
}

function JsonField({ text, error, onChange }: JsonFieldProps) {
  return (
    <Field label="Rule (JSON)" error={error}>
      {(ids) => (
        <textarea
          {...ids}
          rows={Math.min(24, text.split("\n").length + 2)}
          spellCheck={false}
          value={text}
          onChange={(event) => onChange(event.target.value)}
          className={classes(INPUT, "font-mono")}
        />
      )}
    </Field>
  )
}
