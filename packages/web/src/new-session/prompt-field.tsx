import { useState } from "react"
import { Button } from "../design/button.tsx"
import { Field, INPUT, Select } from "../design/field.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { BUILT_IN, dropTemplate, keepTemplate, MAX_TEMPLATE_CHARS, ownTemplates, withTemplate } from "./templates.ts"

interface PromptFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The first message, with templates: a few of ours, and this browser's own. */
export function PromptField({ value, onChange }: PromptFieldProps) {
  const [own, setOwn] = useState(ownTemplates)
  const templates = [...own, ...BUILT_IN]
  const text = value.trim()
  const isOwn = own.some((one) => one.text === text)
  const isKnown = templates.some((one) => one.text === text)
  return (
    <div className="flex flex-col gap-1.5">
      <Field label="First message">
        {(ids) => (
          <textarea
            {...ids}
            name="prompt"
            rows={3}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            placeholder="What should Claude do?"
            className={INPUT}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label="Template"
          value=""
          choices={[
            { value: "", label: "Use a template…" },
            ...templates.map(({ name }, index) => ({ value: String(index), label: oneLine(name, 60) })),
          ]}
          onChange={({ target }) => {
            const chosen = templates[Number(target.value)]
            if (target.value !== "" && chosen !== undefined) onChange(withTemplate(value, chosen.text))
          }}
        />
        {text.length > MAX_TEMPLATE_CHARS ? (
          <span className="text-meta text-text-3">
            Too long to save as a template. The limit is {MAX_TEMPLATE_CHARS.toLocaleString("en")} characters.
          </span>
        ) : (
          text !== "" &&
          !isKnown && (
            <Button look="quiet" onClick={() => setOwn(keepTemplate(text))}>
              Save as template
            </Button>
          )
        )}
        {isOwn && (
          <Button look="quiet" onClick={() => setOwn(dropTemplate(text))}>
            Delete template
          </Button>
        )}
      </div>
    </div>
  )
}
