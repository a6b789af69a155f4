import { useId } from "react"
import { Field, INPUT, Select } from "../../design/field.tsx"
import { VisibleText } from "../../design/visible-text.tsx"
import type { FormField, FormValue } from "./elicitation-fields.ts"

interface FieldViewProps {
  readonly field: FormField
  readonly value: FormValue
  readonly error: string | undefined
  readonly onChange: (value: FormValue) => void
}

/** One field of an MCP server's form. What is wrong with it stands below it, and is read with it. */
export function ElicitationField(props: FieldViewProps) {
  const { type } = props.field
  if (type === "switch") return <SwitchField {...props} />
  return type === "multi-select" ? <SeveralField {...props} /> : <PlainField {...props} />
}

function labelOf({ label, isRequired }: FormField): string {
  return `${label}${isRequired ? "" : " (optional)"}`
}

function SwitchField({ field, value, onChange }: FieldViewProps) {
  const hint = useId()
  const { description } = field
  return (
    <div>
      <label className="flex min-h-8 items-center gap-2 coarse:min-h-11">
        <input
          type="checkbox"
          role="switch"
          name={field.name}
          checked={value === true}
          aria-describedby={description === "" ? undefined : hint}
          onChange={() => onChange(value !== true)}
          className="switch"
        />
        <VisibleText text={field.label} />
      </label>
      {description !== "" && (
        <p id={hint} className="text-meta text-text-3">
          <VisibleText text={description} />
        </p>
      )}
    </div>
  )
}

function SeveralField({ field, value, error, onChange }: FieldViewProps) {
  const note = useId()
  const chosen = Array.isArray(value) ? value : []
  const toggle = (option: string) =>
    onChange(chosen.includes(option) ? chosen.filter((one) => one !== option) : [...chosen, option])
  return (
    <fieldset aria-describedby={error === undefined ? undefined : note} className="flex flex-col gap-1">
      <legend className="mb-1 text-dense font-medium text-text-2">
        <VisibleText text={labelOf(field)} />
      </legend>
      {field.options.map((option) => (
        <label key={option.value} className="flex min-h-7 items-center gap-2 coarse:min-h-11">
          <input
            type="checkbox"
            name={field.name}
            checked={chosen.includes(option.value)}
            onChange={() => toggle(option.value)}
            className="size-4"
          />
          <VisibleText text={option.label} />
        </label>
      ))}
      {error !== undefined && (
        <p id={note} className="text-meta text-danger">
          {error}
        </p>
      )}
    </fieldset>
  )
}

function PlainField({ field, value, error, onChange }: FieldViewProps) {
  const text = typeof value === "string" ? value : ""
  const hint = field.description === "" ? undefined : <VisibleText text={field.description} />
  return (
    <Field label={labelOf(field)} hint={hint} error={error}>
      {(ids) => {
        const common = { ...ids, name: field.name, value: text, required: field.isRequired }
        const onText = (event: { readonly target: { readonly value: string } }) => onChange(event.target.value)
        if (field.type === "select")
          return <Select {...common} choices={[{ value: "", label: "Choose…" }, ...field.options]} onChange={onText} />
        if (field.type === "json")
          return <textarea {...common} rows={3} spellCheck={false} onChange={onText} className={`${INPUT} font-mono`} />
        // A number field of the browser's own drops what it cannot read: then nobody could say what is wrong.
        const type = field.type === "number" ? "text" : field.type
        const inputMode = field.type === "number" ? "decimal" : undefined
        return <input {...common} type={type} inputMode={inputMode} onChange={onText} className={INPUT} />
      }}
    </Field>
  )
}
