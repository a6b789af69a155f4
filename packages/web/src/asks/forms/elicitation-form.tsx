import { useRef, useState } from "react"
import { Button, KeyHint } from "../../design/button.tsx"
import { VisibleText } from "../../design/visible-text.tsx"
import { textIn } from "../../transcript/tools/tool-words.ts"
import { useAskDraft } from "../answer/ask-drafts.ts"
import { ActionBar, ActionButtons, PrimaryAction } from "./action-bar.tsx"
import type { AskFormProps } from "./ask-form.ts"
import { ElicitationField } from "./elicitation-field.tsx"
import { contentOf, errorOf, type FormField, type FormValue, fieldsOf } from "./elicitation-fields.ts"
import { aroundHost, webUrlOf } from "./web-url.ts"

/** An MCP server wants to know something, or wants a page to be visited. */
export function ElicitationAsk(props: AskFormProps) {
  const { request } = props.ask
  const server = textIn(request, "mcp_server_name") ?? "an MCP server"
  const message = textIn(request, "message")
  return (
    <>
      <p className="shrink-0 text-dense text-text-2">
        This form comes from an MCP server, not from Claude. The server is{" "}
        <strong className="font-medium text-text">
          <VisibleText text={server} />
        </strong>
        .
      </p>
      {message !== undefined && (
        <p className="max-h-40 shrink-0 overflow-y-auto whitespace-pre-wrap">
          <VisibleText text={message} />
        </p>
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
        {fields.map((field) => (
          <ElicitationField
            key={field.name}
            field={field}
            value={valueOf(field)}
            error={shows ? errorOf(field, valueOf(field)) : undefined}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
      </div>
      <ActionBar notes={notes}>
        <ActionButtons>
          <PrimaryAction aria-disabled={!canAct} onClick={accept}>
            Accept
            <KeyHint>y</KeyHint>
          </PrimaryAction>
          <Refusals canAct={canAct} answer={answer} />
        </ActionButtons>
      </ActionBar>
    </>
  )
}

/** A page elsewhere: where it leads is shown in full, and it opens only when somebody asks for it. That is the consent. */
function UrlForm({ ask, canAct, answer, notes }: AskFormProps) {
  const text = textIn(ask.request, "url") ?? ""
  const url = webUrlOf(text)
  return (
    <>
      <p className="shrink-0 font-mono text-dense text-text-2">
        <Address text={text} />
      </p>
      <ActionBar notes={notes}>
        <ActionButtons>
          {url === undefined ? (
            <p className="text-caution">This is no address of the web: it cannot be opened from here.</p>
          ) : (
            <PrimaryAction
              aria-disabled={!canAct}
              onClick={() => answer({ action: "accept" }) && open(url.href, "_blank", "noopener,noreferrer")}
            >
              Open <strong>{url.host}</strong>
              <KeyHint>y</KeyHint>
            </PrimaryAction>
          )}
          <Refusals canAct={canAct} answer={answer} />
        </ActionButtons>
      </ActionBar>
    </>
  )
}

function Address({ text }: { readonly text: string }) {
  const [before = "", host = "", after = ""] = aroundHost(text) ?? [text]
  return (
    <>
      <VisibleText text={before} />
      <strong className="font-bold text-text">
        <VisibleText text={host} />
      </strong>
      <VisibleText text={after} />
    </>
  )
}

function Refusals({ canAct, answer }: Pick<AskFormProps, "canAct" | "answer">) {
  return (
    <>
      <Button
        data-act="deny"
        aria-disabled={!canAct}
        onClick={() => answer({ action: "decline" })}
        className="coarse:flex-auto"
      >
        Decline
        <KeyHint>n</KeyHint>
      </Button>
      <Button look="quiet" aria-disabled={!canAct} onClick={() => answer({ action: "cancel" })}>
        Cancel
      </Button>
    </>
  )
}
