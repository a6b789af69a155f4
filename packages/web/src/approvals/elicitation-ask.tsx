import { useRef, useState } from "react"
import { Button, KeyHint } from "../design/button.tsx"
import { Field, INPUT, Select } from "../design/field.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { textIn } from "../transcript/tools/tool-words.ts"
import type { AskFormProps } from "./ask-card.tsx"
import { contentOf, errorOf, type FormField, type FormValue, fieldsOf } from "./elicitation-fields.ts"

export function ElicitationAsk(props: AskFormProps) {
  const { request } = props.ask
  const server = textIn(request, "mcp_server_name") ?? "An MCP server"
  return (
    <>
      <p className="text-dense text-text-2">
        This form comes from an MCP server, not from Claude: <bdi className="font-medium text-text">{server}</bdi>
      </p>
      <p className="whitespace-pre-wrap">
        <VisibleText text={textIn(request, "message") ?? ""} />
      </p>
      {textIn(request, "mode") === "url" ? <UrlForm {...props} /> : <SchemaForm {...props} />}
    </>
  )
}

function SchemaForm({ ask, canAct, answer }: AskFormProps) {
  const fields = fieldsOf(ask.request["requested_schema"], ask.request["property_order"])
  const [values, setValues] = useState<Readonly<Record<string, FormValue>>>({})
  const [shows, setShows] = useState(false)
  const form = useRef<HTMLDivElement>(null)
  const valueOf = (field: FormField) => values[field.name] ?? field.initial
  const wrong = fields.find((field) => errorOf(field, valueOf(field)) !== undefined)
  const accept = () => {
    setShows(true)
    if (wrong === undefined) answer({ action: "accept", content: contentOf(fields, values) })
    else form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(wrong.name)}"]`)?.focus()
  }
  return (
    <>
      <div ref={form} className="flex min-h-0 flex-col gap-3 overflow-y-auto p-0.5">
        {fields.map((field) => (
          <FormFieldView
            key={field.name}
            field={field}
            value={valueOf(field)}
            error={shows ? errorOf(field, valueOf(field)) : undefined}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
      </div>
      <ElicitationActions canAct={canAct} onAccept={accept} acceptLabel="Accept" answer={answer} />
    </>
  )
}

interface FieldViewProps {
  readonly field: FormField
  readonly value: FormValue
  readonly error: string | undefined
  readonly onChange: (value: FormValue) => void
}

function FormFieldView({ field, value, error, onChange }: FieldViewProps) {
  const label = `${field.label}${field.isRequired ? "" : " (optional)"}`
  if (field.type === "switch") {
    return (
      <label className="flex min-h-8 items-center gap-2 coarse:min-h-11">
        <input
          type="checkbox"
          role="switch"
          name={field.name}
          checked={value === true}
          onChange={() => onChange(value !== true)}
          className="size-4"
        />
        {field.label}
        {field.description !== "" && <span className="text-meta text-text-3">{field.description}</span>}
      </label>
    )
  }
  if (field.type === "multi-select") {
    const chosen = Array.isArray(value) ? value : []
    return (
      <fieldset aria-describedby={error === undefined ? undefined : `${field.name}-error`}>
        <legend className="text-dense font-medium text-text-2">{label}</legend>
        {field.options.map((option) => (
          <label key={option.value} className="flex min-h-7 items-center gap-2 coarse:min-h-11">
            <input
              type="checkbox"
              name={field.name}
              checked={chosen.includes(option.value)}
              onChange={() =>
                onChange(
                  chosen.includes(option.value)
                    ? chosen.filter((one) => one !== option.value)
                    : [...chosen, option.value],
                )
              }
            />
            {option.label}
          </label>
        ))}
        {error !== undefined && (
          <p id={`${field.name}-error`} className="text-meta text-danger">
            {error}
          </p>
        )}
      </fieldset>
    )
  }
  return (
    <Field label={label} hint={field.description === "" ? undefined : field.description} error={error}>
      {(ids) => {
        const text = typeof value === "string" ? value : ""
        if (field.type === "select") {
          const choices = [{ value: "", label: "Choose…" }, ...field.options]
          return (
            <Select
              {...ids}
              name={field.name}
              value={text}
              choices={choices}
              onChange={(event) => onChange(event.target.value)}
            />
          )
        }
        if (field.type === "json") {
          return (
            <textarea
              {...ids}
              name={field.name}
              value={text}
              rows={3}
              onChange={(event) => onChange(event.target.value)}
              className={`${INPUT} font-mono`}
            />
          )
        }
        const type = field.type === "number" ? "text" : field.type
        return (
          <input
            {...ids}
            name={field.name}
            type={type}
            inputMode={field.type === "number" ? "decimal" : undefined}
            value={text}
            required={field.isRequired}
            onChange={(event) => onChange(event.target.value)}
            className={INPUT}
          />
        )
      }}
    </Field>
  )
}

/** A page elsewhere: where it leads is shown in full, and it opens only when somebody asks for it. */
function UrlForm({ ask, canAct, answer }: AskFormProps) {
  const text = textIn(ask.request, "url") ?? ""
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:"
  return (
    <>
      <p className="font-mono text-dense">
        <VisibleText text={text} />
      </p>
      {isWeb && url !== undefined && (
        <p>
          <a href={url.href} target="_blank" rel="noreferrer noopener" className="text-accent underline">
            Open <strong>{url.host}</strong>
          </a>
        </p>
      )}
      <ElicitationActions
        canAct={canAct}
        onAccept={() => answer({ action: "accept" })}
        acceptLabel="I have done it"
        answer={answer}
      />
    </>
  )
}

interface ElicitationActionsProps {
  readonly canAct: boolean
  readonly onAccept: () => void
  readonly acceptLabel: string
  readonly answer: AskFormProps["answer"]
}

function ElicitationActions({ canAct, onAccept, acceptLabel, answer }: ElicitationActionsProps) {
  return (
    <div data-actions className="flex flex-wrap gap-3">
      <Button look="primary" data-act="primary" aria-disabled={!canAct} onClick={onAccept}>
        {acceptLabel}
        <KeyHint>y</KeyHint>
      </Button>
      <Button data-act="deny" aria-disabled={!canAct} onClick={() => answer({ action: "decline" })}>
        Decline
        <KeyHint>n</KeyHint>
      </Button>
      <Button look="quiet" aria-disabled={!canAct} onClick={() => answer({ action: "cancel" })}>
        Cancel
      </Button>
    </div>
  )
}
