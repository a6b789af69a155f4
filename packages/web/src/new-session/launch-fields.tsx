import { type ReactNode, useState } from "react"
import { BYPASS } from "../agent/session-choices.ts"
import { useFleet, useMe, useModeRights } from "../app/hub-context.ts"
import { Field, INPUT, Select, TextField } from "../design/field.tsx"
import { NextIcon } from "../design/icons.tsx"
import { BYPASS_WORD, EFFORTS, enforceChoices, type FieldProblem, launchModes, modelNames } from "./launch.ts"
import type { Start } from "./start-from.tsx"

interface ChoiceFieldsProps {
  readonly isHere: boolean
  readonly start: Start
  readonly problem: FieldProblem | undefined
  /** The values of a launch that came to nothing. */
  readonly before: (name: "title" | "model" | "effort" | "mode") => string
  readonly hadWorktree: boolean
}

/** Everything that most launches choose, in view at once. */
export function ChoiceFields({ isHere, start, problem, before, hadWorktree }: ChoiceFieldsProps) {
  const rights = useModeRights()
  const { sessions } = useFleet()
  const [mode, setMode] = useState(() => before("mode"))
  const title = (
    <TextField
      label="Title"
      name="title"
      defaultValue={before("title")}
      autoComplete="off"
      maxLength={200}
      placeholder="Optional"
    />
  )
  if (!isHere) return title
  const isResuming = start.resume !== undefined
  return (
    <>
      <div className="grid grid-cols-2 gap-3 tablet:grid-cols-3">
        <TextField
          label="Model"
          name="model"
          list="offered-models"
          defaultValue={before("model")}
          autoComplete="off"
          spellCheck={false}
          placeholder="Machine default"
        />
        <datalist id="offered-models">
          {modelNames(sessions.values()).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Field label="Effort">
          {(ids) => <Select {...ids} name="effort" defaultValue={before("effort")} choices={EFFORTS} />}
        </Field>
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
      </div>
      <div className="grid items-end gap-3 tablet:grid-cols-2">
        {title}
        {(!isResuming || start.isFork) && (
          <label className="flex min-h-8 items-center gap-2 coarse:min-h-11">
            <input type="checkbox" name="worktree" defaultChecked={hadWorktree} className="size-4 shrink-0" />
            <span>
              Git worktree <span className="ms-1 text-meta text-text-3">Separate checkout, new branch</span>
            </span>
          </label>
        )}
      </div>
      {mode === BYPASS && (
        <div className="flex flex-col gap-2 rounded-control border border-danger/40 bg-danger-soft p-3">
          <p className="text-dense text-danger">Claude will run any command and edit any file without asking.</p>
          <TextField
            label={`Type “${BYPASS_WORD}” to confirm`}
            name="confirmation"
            autoComplete="off"
            error={problem?.field === "confirmation" ? problem.why : undefined}
          />
        </div>
      )}
    </>
  )
}

type Name = "budget" | "enforce" | "directories" | "allowed" | "disallowed"

interface AdvancedFieldsProps {
  readonly isHere: boolean
  readonly problem: FieldProblem | undefined
  /** The values of a launch that came to nothing. */
  readonly before: (name: Name) => string
}

const LISTS: readonly { readonly name: Name; readonly label: string; readonly placeholder: string }[] = [
  { name: "directories", label: "Extra folders, one per line", placeholder: "/home/me/other" },
  { name: "allowed", label: "Allowed tools, one per line", placeholder: "Bash(npm test:*)" },
  { name: "disallowed", label: "Denied tools, one per line", placeholder: "WebFetch" },
]

/** The policy's reach, and fields that become arguments of the CLI: only an admin may give any. */
export function AdvancedFields({ isHere, problem, before }: AdvancedFieldsProps) {
  const { role } = useMe()
  if (role !== "admin") return null
  const isFilled = LISTS.some(({ name }) => before(name) !== "") || before("budget") + before("enforce") !== ""
  return (
    <MorePart title="Advanced" startsOpen={isFilled} problem={problem?.field === "budget" ? problem : undefined}>
      <div className="mt-2 grid gap-3 tablet:grid-cols-2">
        <Field label="Policy judges">
          {(ids) => (
            <Select {...ids} name="enforce" defaultValue={before("enforce")} choices={enforceChoices(isHere)} />
          )}
        </Field>
        {isHere && (
          <TextField
            label="Budget (USD)"
            name="budget"
            inputMode="decimal"
            defaultValue={before("budget")}
            autoComplete="off"
            error={problem?.field === "budget" ? problem.why : undefined}
            hint="Stops at this cost"
          />
        )}
        {(isHere ? LISTS : []).map(({ name, label, placeholder }) => (
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
