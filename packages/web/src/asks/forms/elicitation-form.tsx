import { type ReactNode, useId, useRef, useState } from "react"
import { Button } from "../../design/button.tsx"
import { Field, INPUT, Select } from "../../design/field.tsx"
import { VisibleText } from "../../design/visible-text.tsx"
import { textIn } from "../../transcript/tools/tool-words.ts"
import { useAskDraft } from "../answer/ask-drafts.ts"
import { contentOf, errorOf, type FormField, type FormValue, fieldsOf } from "./elicitation-fields.ts"
import { ActButton, ActionBar, ActionButtons, type AskFormProps } from "./form-parts.tsx"

/** An MCP server wants to know something, or wants a page to be visited. */
export function ElicitationAsk(props: AskFormProps) {
  const { request } = props.ask
  const server = textIn(request, "mcp_server_name") ?? "an MCP server"
  const message = textIn(request, "message")
  return (
    <>
      <p className="shrink-0 text-dense text-text-2">
        This form is from the MCP server <VisibleText as="strong" className="font-medium text-text" text={server} />,
        not from Claude.
      </p>
      {message !== undefined && (
        <VisibleText as="p" className="max-h-40 shrink-0 overflow-y-auto whitespace-pre-wrap" text={message} />
      )}
      {textIn(request, "mode") === "url" ? <UrlForm {...props} /> : <SchemaForm {...props} />}
    </>
  )
}

const NO_VALUES: Readonly<Record<string, FormValue>> = {}

function SchemaForm({ ask, canAct, answer, notes }: AskFormProps) {
  const fields = fieldsOf(ask.request["requested_schema"], ask.request["property_order"])
  const [values, setValues] = useAskDraft(ask, "values", NO_VALUES)
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
      <div ref={form} className="-mx-1 flex min-h-14 flex-col gap-3 overflow-y-auto px-1 py-1 *:max-w-2xl">
        {fields.map((field) => {
          const View = VIEWS[field.type] ?? PlainField
          return (
            <View
              key={field.name}
              field={field}
              value={valueOf(field)}
              error={shows ? errorOf(field, valueOf(field)) : undefined}
              onChange={(value) => setValues({ ...values, [field.name]: value })}
            />
          )
        })}
      </div>
      <FormActions {...{ canAct, answer, notes }}>
        <ActButton act="primary" isReady={canAct} onPress={accept}>
          Accept
        </ActButton>
      </FormActions>
    </>
  )
}

/** A page elsewhere: where it leads is shown in full, and it opens only when somebody asks for it. That is the consent. */
function UrlForm({ ask, canAct, answer, notes }: AskFormProps) {
  const text = textIn(ask.request, "url") ?? ""
  const url = webUrlOf(text)
  const [before = "", host = "", after = ""] = aroundHost(text) ?? [text]
  return (
    <>
      <p className="shrink-0 font-mono text-dense text-text-2">
        <VisibleText text={before} />
        <VisibleText as="strong" className="font-bold text-text" text={host} />
        <VisibleText text={after} />
      </p>
      <FormActions {...{ canAct, answer, notes }}>
        {url === undefined ? (
          <p className="text-caution">Not a web address. It can't be opened here.</p>
        ) : (
          <ActButton
            act="primary"
            isReady={canAct}
            onPress={() => answer({ action: "accept" }) && open(url.href, "_blank", "noopener,noreferrer")}
          >
            Open <strong>{url.host}</strong>
          </ActButton>
        )}
      </FormActions>
    </>
  )
}

type FormActionsProps = Pick<AskFormProps, "canAct" | "answer" | "notes"> & { readonly children: ReactNode }

/** The button that accepts, and the two ways to refuse. */
function FormActions({ canAct, answer, notes, children }: FormActionsProps) {
  return (
    <ActionBar notes={notes}>
      <ActionButtons>
        {children}
        <ActButton act="deny" isReady={canAct} onPress={() => answer({ action: "decline" })}>
          Decline
        </ActButton>
        <Button look="quiet" aria-disabled={!canAct} onClick={() => answer({ action: "cancel" })}>
          Cancel
        </Button>
      </ActionButtons>
    </ActionBar>
  )
}

interface FieldViewProps {
  readonly field: FormField
  readonly value: FormValue
  readonly error: string | undefined
  readonly onChange: (value: FormValue) => void
}

/** Fields that are more than one line to fill in. What is wrong with a field stands below it, and is read with it. */
const VIEWS: Partial<Record<FormField["type"], typeof PlainField>> = {
  switch: SwitchField,
  "multi-select": SeveralField,
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
      {description !== "" && <VisibleText as="p" id={hint} className="text-meta text-text-3" text={description} />}
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
      <VisibleText as="legend" className="mb-1 text-dense font-medium text-text-2" text={labelOf(field)} />
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

/** An address that a browser may be sent to; undefined for anything else, such as what would run. */
function webUrlOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined
}

type AroundHost = readonly [before: string, host: string, after: string]

/** An address around its host, which is what tells where it leads: what stands before an `@` only looks like one. */
export function aroundHost(text: string): AroundHost | undefined {
  const url = webUrlOf(text)
  const asWritten = cutAtHost(text)
  if (url === undefined) return asWritten
  const leadsTo = asWritten === undefined ? undefined : webUrlOf(`${url.protocol}//${asWritten[1]}`)?.host
  // Browsers open more spellings than we can cut: then it is shown as they take it.
  return leadsTo === url.host ? asWritten : cutAtHost(url.href)
}

function cutAtHost(text: string): AroundHost | undefined {
  const [, before, host, after] = /^(\s*[a-z][a-z0-9+.-]*:[\\/]{2}(?:[^\\/?#]*@)?)([^\\/?#]+)(.*)$/is.exec(text) ?? []
  return before === undefined || host === undefined || after === undefined ? undefined : [before, host, after]
}
