import { type ReactNode, useState } from "react"
import { BYPASS } from "../agent/session-choices.ts"
import { useMe, useModeRights } from "../app/hub-context.ts"
import { classes } from "../design/classes.ts"
import { Field, INPUT, Select, TextField } from "../design/field.tsx"
import { NextIcon } from "../design/icons.tsx"
import { Notice } from "../design/notice.tsx"
import type { Machine } from "../fleet/machine-store.tsx"
import { BYPASS_WORD, enforceChoices, type FieldProblem, launchModes, roomOf } from "./launch.ts"

interface FolderFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly offered: readonly string[]
  readonly problem: FieldProblem | undefined
  readonly warning: string | undefined
}

export function FolderField({ value, onChange, offered, problem, warning }: FolderFieldProps) {
  const isWrong = problem?.field === "cwd" && value.trim() === ""
  return (
    <>
      <TextField
        label="Folder"
        name="cwd"
        list="offered-folders"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        autoComplete="off"
        spellCheck={false}
        error={isWrong ? problem.why : warning}
        placeholder="/home/me/project"
        className="font-mono"
      />
      <datalist id="offered-folders">
        {[...new Set(offered)].map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
    </>
  )
}

interface MoreFieldsProps {
  readonly isHere: boolean
  readonly isResuming: boolean
  readonly problem: FieldProblem | undefined
  /** The values of a launch that came to nothing. */
  readonly before: (name: "title" | "model" | "mode" | "enforce") => string
}

export function MoreFields({ isHere, isResuming, problem, before }: MoreFieldsProps) {
  const rights = useModeRights()
  const [mode, setMode] = useState(() => before("mode"))
  return (
    <MorePart
      title="Title, model, mode"
      startsOpen={before("model") + before("mode") + before("enforce") !== ""}
      problem={problem?.field === "confirmation" ? problem : undefined}
    >
      <div className="mt-2 grid gap-3 tablet:grid-cols-2">
        <TextField label="Title" name="title" defaultValue={before("title")} autoComplete="off" maxLength={200} />
        {isHere && (
          <TextField
            label="Model"
            name="model"
            defaultValue={before("model")}
            autoComplete="off"
            hint="Empty: the machine's default"
          />
        )}
        {isHere && (
          <Field label="Mode">
            {(ids) => (
              <Select
                {...ids}
                name="mode"
                value={mode}
                choices={launchModes(isResuming, rights)}
                onChange={(event) => setMode(event.target.value)}
              />
            )}
          </Field>
        )}
        {rights.isAdmin && (
          <Field label="Policy judges">
            {(ids) => (
              <Select {...ids} name="enforce" defaultValue={before("enforce")} choices={enforceChoices(isHere)} />
            )}
          </Field>
        )}
      </div>
      {isHere && mode === BYPASS && (
        <div className="mt-3 flex flex-col gap-2 rounded-control border border-danger/40 bg-danger-soft p-3">
          <p className="text-dense text-danger">Claude will run any command and edit any file without asking.</p>
          <TextField
            label={`Type “${BYPASS_WORD}” to confirm`}
            name="confirmation"
            autoComplete="off"
            error={problem?.field === "confirmation" ? problem.why : undefined}
          />
        </div>
      )}
    </MorePart>
  )
}

type Name = "budget" | "directories" | "allowed" | "disallowed"

interface AdvancedFieldsProps {
  readonly problem: FieldProblem | undefined
  /** The values of a launch that came to nothing. */
  readonly before: (name: Name) => string
}

const LISTS: readonly { readonly name: Name; readonly label: string; readonly placeholder: string }[] = [
  { name: "directories", label: "Extra folders, one per line", placeholder: "/home/me/other" },
  { name: "allowed", label: "Allowed tools, one per line", placeholder: "Bash(npm test:*)" },
  { name: "disallowed", label: "Denied tools, one per line", placeholder: "WebFetch" },
]

/** Fields that become arguments of the CLI: only an admin may give it any. */
export function AdvancedFields({ problem, before }: AdvancedFieldsProps) {
  const { role } = useMe()
  if (role !== "admin") return null
  const isFilled = LISTS.some(({ name }) => before(name) !== "") || before("budget") !== ""
  return (
    <MorePart title="Advanced" startsOpen={isFilled} problem={problem?.field === "budget" ? problem : undefined}>
      <div className="mt-2 grid gap-3 tablet:grid-cols-2">
        <TextField
          label="Budget (USD)"
          name="budget"
          inputMode="decimal"
          defaultValue={before("budget")}
          autoComplete="off"
          error={problem?.field === "budget" ? problem.why : undefined}
          hint="Stops at this cost"
        />
        {LISTS.map(({ name, label, placeholder }) => (
          <Field key={name} label={label}>
            {(ids) => (
              <textarea
                {...ids}
                name={name}
                rows={2}
                defaultValue={before(name)}
                placeholder={placeholder}
                spellCheck={false}
                className={`${INPUT} font-mono`}
              />
            )}
          </Field>
        ))}
      </div>
    </MorePart>
  )
}

interface MorePartProps {
  readonly title: string
  readonly startsOpen: boolean
  /** Problem of a field in this part. The part opens for each new problem and stays open once it is fixed. */
  readonly problem: FieldProblem | undefined
  readonly children: ReactNode
}

/** A part of the form that most can do without. */
function MorePart({ title, startsOpen, problem, children }: MorePartProps) {
  const [isOpen, setOpen] = useState(startsOpen)
  const [before, setBefore] = useState(problem)
  if (problem !== before) {
    setBefore(problem)
    if (problem !== undefined) setOpen(true)
  }
  return (
    <details className="group" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex min-h-8 w-fit list-none items-center gap-1.5 rounded-control text-dense font-medium text-text-2 hover:text-text coarse:min-h-11 [&::-webkit-details-marker]:hidden">
        <NextIcon size={12} className="group-open:rotate-90" />
        {title}
      </summary>
      {children}
    </details>
  )
}

export function useChosenMachine(machines: readonly Machine[], first: string | null) {
  const [wished, choose] = useState(first ?? "")
  const free = machines.filter((one) => roomOf(one).isFree)
  const machine = machines.find(({ id, connected }) => connected && id === wished) ?? free[0]
  return { machine, choose }
}

interface MachineChoiceProps {
  readonly machines: readonly Machine[]
  readonly chosen: Machine | undefined
  readonly onChange: (id: string) => void
}

export function MachineChoice({ machines, chosen, onChange }: MachineChoiceProps) {
  if (chosen === undefined)
    return (
      <Notice tone="neutral">
        {machines.length === 0
          ? "No machines connected. You can start an external agent with a command."
          : `No machine has room (${machines.map((one) => `${one.name}: ${roomOf(one).words}`).join(", ")}). You can start an external agent with a command.`}
      </Notice>
    )
  if (machines.length < 2) return null
  const choices = machines.map((one) => {
    const { isFree, words } = roomOf(one)
    return { value: one.id, label: one.name, note: words, disabled: !isFree }
  })
  return <RadioCards legend="Machine" name="machine" value={chosen.id} choices={choices} onChange={onChange} />
}

interface RadioCard {
  readonly value: string
  readonly label: string
  readonly note: string
  readonly disabled?: boolean
}

interface RadioCardsProps {
  readonly legend: string
  readonly name: string
  readonly value: string | undefined
  readonly choices: readonly RadioCard[]
  readonly onChange: (value: string) => void
}

/** One of a few, each with a line on what it means. */
export function RadioCards({ legend, name, value, choices, onChange }: RadioCardsProps) {
  return (
    <fieldset>
      <legend className="mb-1 text-dense font-medium text-text-2">{legend}</legend>
      <div className="grid gap-2 tablet:grid-cols-2">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className={classes(
              "flex min-h-11 items-center gap-3 rounded-control border px-3 py-1.5",
              choice.value === value ? "border-accent bg-accent-soft" : "border-line bg-surface",
              choice.disabled === true && "text-text-3",
            )}
          >
            <input
              type="radio"
              name={name}
              disabled={choice.disabled}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
              className="size-4 shrink-0"
            />
            <span className="min-w-0">
              <bdi className="block truncate">{choice.label}</bdi>
              <span className="block text-meta text-text-2">{choice.note}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
