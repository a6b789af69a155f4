import { useState } from "react"
import { BYPASS } from "../agent/session-choices.ts"
import { useModeRights } from "../app/hub-settings.ts"
import { Field, Select, TextField } from "../design/field.tsx"
import { BYPASS_WORD, type FieldProblem, launchModes } from "./launch.ts"
import { MorePart } from "./more-part.tsx"

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
  /** What stood there in a launch that came to nothing. */
  readonly before: (name: "title" | "model" | "mode") => string
}

export function MoreFields({ isHere, isResuming, problem, before }: MoreFieldsProps) {
  const rights = useModeRights()
  const [mode, setMode] = useState(() => before("mode"))
  return (
    <MorePart
      title="Title, model, mode"
      startsOpen={before("model") + before("mode") !== ""}
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
            hint="Empty: as the machine is set up"
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
      </div>
      {isHere && mode === BYPASS && (
        <div className="mt-3 flex flex-col gap-2 rounded-control border border-danger/40 bg-danger-soft p-3">
          <p className="text-dense text-danger">
            It will run every command and change every file without asking anybody, on that machine, as its user.
          </p>
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
