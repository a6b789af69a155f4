import { useId } from "react"
import { classes } from "../design/classes.ts"
import { Field, Select, Switch, TextField } from "../design/field.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { useMachines } from "../fleet/machine-store.tsx"
import { Conditions, MAIN_FIELDS, type RuleFieldsProps } from "./rule-conditions.tsx"
import { DAYS, type TextName } from "./rule-form.ts"
import { EFFECTS, type Effect } from "./rule-words.ts"

const TOOLS = [...MAIN_FIELDS.keys(), "WebSearch", "Task", "mcp__SERVER__*"]

const EFFECT_HINTS: Readonly<Record<Effect, string>> = {
  deny: "Never runs. Claude is told so.",
  ask: "A person decides, even if another rule allows it.",
  allow: "Runs without asking.",
}

/** A control for each part of a rule, with its problem below it. */
export function RuleFields({ form, problems, onChange }: RuleFieldsProps) {
  const id = useId()
  const { all: machines } = useMachines()
  const setText = (name: TextName, value: string) => onChange({ ...form, texts: { ...form.texts, [name]: value } })
  const text = (name: TextName) => ({
    value: form.texts[name],
    error: problems.get(name),
    autoComplete: "off",
    spellCheck: false,
    onChange: (event: { readonly target: { readonly value: string } }) => setText(name, event.target.value),
  })
  return (
    <div className="flex flex-col gap-4">
      <TextField label="Name" hint="Shown wherever the rule decides." maxLength={128} {...text("id")} />
      <EffectChoice effect={form.effect} onChange={(effect) => onChange({ ...form, effect })} />
      <TextField label="Tool" hint="Empty: any tool." list={`${id}-tools`} className="font-mono" {...text("tool")} />
      <datalist id={`${id}-tools`}>
        {TOOLS.map((tool) => (
          <option key={tool} value={tool} />
        ))}
      </datalist>
      <datalist id={`${id}-machines`}>
        {machines.map((machine) => (
          <option key={machine.id} value={machine.id} label={oneLine(machine.name, 60)} />
        ))}
      </datalist>
      <Conditions form={form} problems={problems} onChange={onChange} />
      <div className="grid gap-4 tablet:grid-cols-2">
        <TextField
          label="Folder"
          hint="Such as /srv/api or /srv/**. Empty: any."
          className="font-mono"
          {...text("cwd")}
        />
        <TextField
          label="Branch"
          hint="Such as main or release/*. Empty: any."
          className="font-mono"
          {...text("branch")}
        />
        <TextField
          label="Machine"
          hint="A machine's id. Empty: any."
          list={`${id}-machines`}
          className="font-mono"
          {...text("runner")}
        />
        <TextField
          label="Mode"
          hint="Such as plan or acceptEdits. Empty: any."
          className="font-mono"
          {...text("mode")}
        />
        <TextField label="Session" hint="A session's id. Empty: any." className="font-mono" {...text("session")} />
        <TextField
          label="Ends"
          hint="In your time zone. Empty: never."
          type="datetime-local"
          {...text("until")}
          value={localTime(form.texts.until)}
          onChange={(event) => setText("until", isoTime(event.target.value))}
        />
      </div>
      <HoursFields form={form} problems={problems} onChange={onChange} />
      {form.effect === "ask" && <AskLimits form={form} problems={problems} onChange={onChange} />}
      {form.effect === "allow" && <AllowLimit form={form} problems={problems} onChange={onChange} />}
      {form.effect === "deny" && (
        <TextField label="Message to Claude" hint="Such as: Use pnpm here." maxLength={4000} {...text("message")} />
      )}
      <TextField label="Reason" hint="Why the rule exists, for people." maxLength={1000} {...text("reason")} />
    </div>
  )
}

/** A moment as the field for one takes it: the reader's own time, to the minute. */
function localTime(moment: string): string {
  const time = new Date(moment)
  if (Number.isNaN(time.getTime())) return ""
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function isoTime(local: string): string {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? "" : time.toISOString()
}

/** The time of day, and the days, on which the rule holds. */
function HoursFields({ form, problems, onChange }: RuleFieldsProps) {
  const id = useId()
  const { hours } = form
  const set = (change: Partial<typeof hours>) => onChange({ ...form, hours: { ...hours, ...change } })
  const toggle = (day: string) =>
    set({ days: DAYS.filter((one) => (one === day ? !hours.days.includes(one) : hours.days.includes(one))) })
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1.5 text-dense font-medium text-text-2">Hours</legend>
      <div className="grid grid-cols-2 gap-4 tablet:grid-cols-[1fr_1fr_2fr]">
        <TextField
          label="From"
          hint="Empty: any time."
          type="time"
          value={hours.from}
          error={problems.get("hours")}
          onChange={(event) => set({ from: event.target.value })}
        />
        <TextField
          label="To"
          hint="May be on the next day."
          type="time"
          value={hours.to}
          onChange={(event) => set({ to: event.target.value })}
        />
        <div className="col-span-2 tablet:col-span-1">
          <TextField
            label="Time zone"
            hint="Such as Europe/Berlin. Empty: UTC."
            list={`${id}-zones`}
            autoComplete="off"
            spellCheck={false}
            value={hours.zone}
            error={problems.get("hours.zone")}
            onChange={(event) => set({ zone: event.target.value })}
          />
          <datalist id={`${id}-zones`}>
            <option value="UTC" />
            <option value={Intl.DateTimeFormat().resolvedOptions().timeZone} />
          </datalist>
        </div>
      </div>
      <div role="group" aria-label="Days" className="grid grid-cols-4 gap-x-4 gap-y-1 tablet:flex tablet:flex-wrap">
        {DAYS.map((day) => (
          <label key={day} className="flex min-h-8 items-center gap-1.5 coarse:min-h-11">
            <input type="checkbox" checked={hours.days.includes(day)} onChange={() => toggle(day)} className="size-4" />
            {day.charAt(0).toUpperCase() + day.slice(1)}
          </label>
        ))}
      </div>
      <p className="text-meta text-text-3">The days on which the hours begin. None: every day.</p>
    </fieldset>
  )
}

/** How often the rule allows something before a person is asked again. */
function AllowLimit({ form, problems, onChange }: RuleFieldsProps) {
  return (
    <div className="grid gap-4 tablet:grid-cols-2">
      <TextField
        label="At most (times)"
        hint="Then a person decides. Empty: no limit."
        inputMode="numeric"
        value={form.count}
        error={problems.get("atMost")}
        onChange={(event) => onChange({ ...form, count: event.target.value })}
      />
      <Field label="Counted per" hint="A day begins at midnight, UTC.">
        {(ids) => (
          <Select
            {...ids}
            value={form.per}
            choices={PERIODS}
            onChange={(event) => onChange({ ...form, per: event.target.value === "day" ? "day" : "session" })}
            className="w-full"
          />
        )}
      </Field>
    </div>
  )
}

const PERIODS = [
  { value: "session", label: "Session" },
  { value: "day", label: "Day" },
]

function AskLimits({ form, problems, onChange }: RuleFieldsProps) {
  return (
    <div className="grid gap-4 tablet:grid-cols-2">
      <TextField
        label="Expires after (minutes)"
        hint="Empty: never."
        inputMode="decimal"
        value={form.minutes}
        error={problems.get("expiresAfterMs")}
        onChange={(event) => onChange({ ...form, minutes: event.target.value })}
      />
      <TextField
        label="More time, at most (times)"
        hint="Empty: 3."
        inputMode="numeric"
        value={form.extensions}
        error={problems.get("maxExtensions")}
        onChange={(event) => onChange({ ...form, extensions: event.target.value })}
      />
      <div className="tablet:col-span-2">
        <Switch
          checked={form.fourEyes}
          hint="Whoever started the session can't allow the request. A person is the name of a token: an admin with two tokens can get around this."
          error={problems.get("fourEyes")}
          onChange={() => onChange({ ...form, fourEyes: !form.fourEyes })}
        >
          Another person must allow
        </Switch>
      </div>
    </div>
  )
}

interface EffectChoiceProps {
  readonly effect: Effect
  readonly onChange: (effect: Effect) => void
}

function EffectChoice({ effect: chosen, onChange }: EffectChoiceProps) {
  const id = useId()
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1.5 text-dense font-medium text-text-2">Effect</legend>
      <div className="flex flex-wrap gap-2">
        {EFFECTS.toReversed().map(({ effect, verb }) => (
          <label
            key={effect}
            className={classes(
              "flex min-h-9 items-center gap-2 rounded-control border px-3 coarse:min-h-11",
              effect === chosen ? "border-accent bg-accent-soft" : "border-line bg-surface",
            )}
          >
            <input
              type="radio"
              name={id}
              checked={effect === chosen}
              aria-describedby={effect === chosen ? `${id}-hint` : undefined}
              onChange={() => onChange(effect)}
            />
            {verb.replace(" about", "")}
          </label>
        ))}
      </div>
      <p id={`${id}-hint`} className="text-meta text-text-3">
        {EFFECT_HINTS[chosen]}
      </p>
    </fieldset>
  )
}
