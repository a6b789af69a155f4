import { useId } from "react"
import { Button, IconButton } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Field, INPUT, TextField } from "../design/field.tsx"
import { CloseIcon, PlusIcon } from "../design/icons.tsx"
import { type Condition, fieldKey, type Problems, type RuleForm, type TextName } from "./rule-form.ts"
import { EFFECTS, type Effect } from "./rule-words.ts"

interface RuleFieldsProps {
  readonly form: RuleForm
  readonly problems: Problems
  readonly onChange: (form: RuleForm) => void
}

/** By tool: the field of its input that people write rules about. */
const MAIN_FIELDS: ReadonlyMap<string, string> = new Map([
  ["Bash", "command"],
  ["Edit", "file_path"],
  ["MultiEdit", "file_path"],
  ["Write", "file_path"],
  ["Read", "file_path"],
  ["NotebookEdit", "notebook_path"],
  ["Glob", "path"],
  ["Grep", "path"],
  ["WebFetch", "url"],
])
const TOOLS = [...MAIN_FIELDS.keys(), "WebSearch", "Task", "mcp__SERVER__*"]

const EFFECT_HINTS: Readonly<Record<Effect, string>> = {
  deny: "Never runs. Claude is told so.",
  ask: "A person decides, even if another rule allows it.",
  allow: "Runs without asking.",
}

/** A control for each part of a rule, with its problem below it. */
export function RuleFields({ form, problems, onChange }: RuleFieldsProps) {
  const id = useId()
  const text = (name: TextName) => ({
    value: form.texts[name],
    error: problems.get(name),
    autoComplete: "off",
    spellCheck: false,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...form, texts: { ...form.texts, [name]: event.target.value } }),
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
      <Conditions form={form} problems={problems} onChange={onChange} />
      <div className="grid gap-4 tablet:grid-cols-2">
        <TextField
          label="Folder"
          hint="Such as /srv/api or /srv/**. Empty: any."
          className="font-mono"
          {...text("cwd")}
        />
        <TextField
          label="Mode"
          hint="Such as plan or acceptEdits. Empty: any."
          className="font-mono"
          {...text("mode")}
        />
      </div>
      <TextField label="Session" hint="A session's id. Empty: any." className="font-mono" {...text("session")} />
      {form.effect === "ask" && (
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
        </div>
      )}
      {form.effect === "deny" && (
        <TextField label="Message to Claude" hint="Such as: Use pnpm here." maxLength={4000} {...text("message")} />
      )}
      <TextField label="Reason" hint="Why the rule exists, for people." maxLength={1000} {...text("reason")} />
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

function Conditions({ form, problems, onChange }: RuleFieldsProps) {
  const { conditions } = form
  const set = (next: readonly Condition[]) => onChange({ ...form, conditions: next })
  const add = () => {
    const main = MAIN_FIELDS.get(form.texts.tool.trim()) ?? ""
    const isUsed = conditions.some(({ field }) => field === main)
    set([...conditions, { field: isUsed ? "" : main, patterns: "" }])
  }
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 text-dense font-medium text-text-2">Input</legend>
      {conditions.map((condition, index) => (
        <ConditionRow
          // Conditions have no name but their place.
          key={index}
          condition={condition}
          index={index}
          problems={problems}
          onChange={(next) => set(conditions.with(index, next))}
          onRemove={() => set(conditions.toSpliced(index, 1))}
        />
      ))}
      <Button onClick={add} className="self-start">
        <PlusIcon size={15} />
        Add condition
      </Button>
    </fieldset>
  )
}

interface ConditionRowProps {
  readonly condition: Condition
  readonly index: number
  readonly problems: Problems
  readonly onChange: (condition: Condition) => void
  readonly onRemove: () => void
}

function ConditionRow({ condition, index, problems, onChange, onRemove }: ConditionRowProps) {
  const { field, patterns } = condition
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-2 gap-y-2 rounded-card border border-line p-3 tablet:grid-cols-[10rem_minmax(0,1fr)_auto]">
      <TextField
        label="Field"
        value={field}
        error={problems.get(fieldKey(index))}
        autoComplete="off"
        spellCheck={false}
        className="font-mono"
        onChange={(event) => onChange({ ...condition, field: event.target.value })}
      />
      <div className="col-span-2 row-start-2 tablet:col-span-1 tablet:row-start-auto">
        <Field
          label="Matches any of"
          hint="One pattern a line. * is any text."
          error={problems.get(`input.${field.trim()}`)}
        >
          {(ids) => (
            <textarea
              {...ids}
              rows={Math.min(8, patterns.split("\n").length + 1)}
              spellCheck={false}
              value={patterns}
              onChange={(event) => onChange({ ...condition, patterns: event.target.value })}
              className={classes(INPUT, "font-mono")}
            />
          )}
        </Field>
      </div>
      <IconButton label="Remove condition" onClick={onRemove} className="mt-6.5">
        <CloseIcon size={15} />
      </IconButton>
    </div>
  )
}
