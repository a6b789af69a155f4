import { Button, IconButton } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Field, INPUT, TextField } from "../design/field.tsx"
import { CloseIcon, PlusIcon } from "../design/icons.tsx"
import { type Condition, fieldKey, type Problems, type RuleForm } from "./rule-form.ts"

/** By tool: the field of its input that people write rules about. */
export const MAIN_FIELDS: ReadonlyMap<string, string> = new Map([
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

export interface RuleFieldsProps {
  readonly form: RuleForm
  readonly problems: Problems
  readonly onChange: (form: RuleForm) => void
}

/** The patterns that the fields of a tool's input must match. */
export function Conditions({ form, problems, onChange }: RuleFieldsProps) {
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
      <IconButton label="Remove condition" onClick={onRemove} className="mt-6">
        <CloseIcon size={15} />
      </IconButton>
    </div>
  )
}
