import { isObject, textOf } from "@signalbox/protocol/envelope"
import { isUsualGrant } from "@signalbox/transcript"
import { Select } from "../../design/field.tsx"
import { VisibleText } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"

/** More would push what is asked, and the buttons, out of sight. */
const MAX_INLINE = 3

interface RememberProps {
  readonly suggestions: readonly Suggestion[]
  readonly ticked: ReadonlyMap<number, string>
  readonly onChange: (ticked: ReadonlyMap<number, string>) => void
}

/** Standing permissions that could be given along with the answer. None is ticked until somebody ticks it. */
export function Remember({ suggestions, ticked, onChange }: RememberProps) {
  if (suggestions.length === 0) return null
  return (
    <ul
      aria-label="Remember"
      // On a phone what is asked needs the room more.
      className="flex flex-col gap-1 max-tablet:max-h-[22dvh] max-tablet:gap-2 max-tablet:overflow-y-auto"
    >
      {suggestions.map((suggestion, index) => {
        const { destination, rules } = suggestion
        const toggle = () => {
          const next = new Map(ticked)
          if (!next.delete(index)) next.set(index, destination)
          onChange(next)
        }
        const name = nameOf(suggestion)
        return (
          <li key={index} className="flex flex-wrap items-center gap-x-2 gap-y-0 text-dense">
            <label className="flex min-h-7 min-w-0 items-center gap-2 coarse:min-h-11">
              <input
                type="checkbox"
                data-remember={isUsualGrant(suggestion.update) ? "" : undefined}
                checked={ticked.has(index)}
                onChange={toggle}
                className="size-4 shrink-0"
              />
              <Words {...suggestion} />
            </label>
            {destination === "cliArg" ? (
              <span className="text-meta text-text-3">for this process</span>
            ) : (
              <Select
                aria-label={`Scope: ${name}`}
                value={ticked.get(index) ?? destination}
                choices={DESTINATIONS}
                onChange={(event) => onChange(new Map([...ticked, [index, event.target.value]]))}
                className="min-h-7! py-0! text-dense! coarse:min-h-11! max-tablet:ms-6 max-tablet:flex-1"
              />
            )}
            {/* The person who ticks it sees what it is. */}
            {rules.length > MAX_INLINE && <ManyRules rules={rules} isOpen={ticked.has(index)} />}
          </li>
        )
      })}
    </ul>
  )
}

function nameOf({ words, rules }: Suggestion): string {
  if (rules.length > MAX_INLINE) return `${words} ${plural(rules.length, "rule")}`
  return rules.length === 0 ? words : `${words} ${rules.join(", ")}`
}

function Words(suggestion: Suggestion) {
  const { words, rules } = suggestion
  if (rules.length === 0 || rules.length > MAX_INLINE) return <span>{nameOf(suggestion)}</span>
  return (
    <span className="min-w-0">
      {words}{" "}
      <VisibleText as="code" className="rounded-mark bg-sunken px-1 font-mono text-meta" text={rules.join(", ")} />
    </span>
  )
}

function ManyRules({ rules, isOpen }: { readonly rules: readonly string[]; readonly isOpen: boolean }) {
  return (
    <details key={String(isOpen)} open={isOpen} className="w-full text-meta text-text-2">
      <summary className="w-fit cursor-pointer rounded-control py-1">Show {plural(rules.length, "rule")}</summary>
      <ul
        // A region that scrolls must be reachable without a pointer.
        tabIndex={0}
        aria-label="Rules"
        className="max-h-24 overflow-y-auto rounded-control border border-line bg-sunken px-3 py-1.5 font-mono"
      >
        {rules.map((rule) => (
          <VisibleText as="li" key={rule} text={rule} />
        ))}
      </ul>
    </details>
  )
}

/** A standing permission as the CLI suggests it. */
export interface Suggestion {
  readonly update: Readonly<Record<string, unknown>>
  readonly words: string
  /** Code after the words: the rules themselves, all of them. A permission that is cut short is not what somebody agrees to. */
  readonly rules: readonly string[]
  readonly destination: string
}

export const DESTINATIONS = [
  { value: "session", label: "This session" },
  { value: "localSettings", label: "This project (just me)" },
  { value: "projectSettings", label: "This project (everyone)" },
  { value: "userSettings", label: "All projects on this machine" },
] as const

const MODES: Readonly<Record<string, string>> = {
  acceptEdits: "Auto-accept edits from now on",
  default: "Ask from now on",
  plan: "Switch to plan mode",
  bypassPermissions: "Bypass permissions from now on",
}

/** By behaviour: what adding and what removing a rule does. */
const VERBS: Readonly<Record<string, readonly [add: string, remove: string]>> = {
  allow: ["Always allow", "Stop always allowing"],
  deny: ["Always deny", "Stop always denying"],
  ask: ["Always ask about", "Stop always asking about"],
}

function ruleText(rule: unknown): string {
  if (!isObject(rule)) return ""
  const tool = textOf(rule, "toolName") ?? ""
  const content = rule["ruleContent"]
  return typeof content === "string" && content !== "" ? `${tool}(${content})` : tool
}

/** In words, each suggestion by itself; what we cannot read is not offered. */
export function suggestionsOf(suggestions: readonly unknown[] | undefined): readonly Suggestion[] {
  return (suggestions ?? []).flatMap((update) => {
    if (!isObject(update)) return []
    const destination = typeof update["destination"] === "string" ? update["destination"] : "session"
    const words = wordsOf(update)
    return words === undefined ? [] : [{ update, destination, ...words }]
  })
}

function wordsOf(update: Readonly<Record<string, unknown>>): Pick<Suggestion, "words" | "rules"> | undefined {
  const list = (field: string): readonly unknown[] => {
    const value = update[field]
    return Array.isArray(value) ? value : []
  }
  const kind = textOf(update, "type") ?? ""
  switch (kind) {
    case "addRules":
    case "replaceRules":
    case "removeRules": {
      const verb = VERBS[textOf(update, "behavior") ?? "allow"]?.[kind === "removeRules" ? 1 : 0]
      if (verb === undefined) return undefined
      const words = kind === "replaceRules" ? `Replace existing rules: ${verb.toLowerCase()}` : verb
      return { words, rules: eachOnce(list("rules").map(ruleText)) }
    }
    case "addDirectories":
    case "removeDirectories": {
      const words = kind === "addDirectories" ? "Trust folder" : "Stop trusting folder"
      return { words, rules: eachOnce(list("directories").map(String)) }
    }
    case "setMode": {
      const mode = textOf(update, "mode") ?? ""
      return { words: MODES[mode] ?? `Switch to ${mode} mode`, rules: [] }
    }
    default:
      return undefined
  }
}

function eachOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
