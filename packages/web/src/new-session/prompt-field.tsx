import { useState } from "react"
import { Button } from "../design/button.tsx"
import { Field, INPUT, Select } from "../design/field.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { BUILT_IN, dropTemplate, keepTemplate, MAX_TEMPLATE_CHARS, ownTemplates, withTemplate } from "./templates.ts"

interface PromptFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

const SMALL = "min-h-7! py-0! text-dense! coarse:min-h-11!"

/** The first message, with templates: a few of ours, and this browser's own. */
export function PromptField({ value, onChange }: PromptFieldProps) {
  const [own, setOwn] = useState(ownTemplates)
  const templates = [...own, ...BUILT_IN]
  const text = value.trim()
  const isOwn = own.some((one) => one.text === text)
  const isKnown = templates.some((one) => one.text === text)
  return (
    <Field
      label="First message"
      aside={
        <span className="flex flex-wrap items-center justify-end gap-x-2">
          {text.length > MAX_TEMPLATE_CHARS ? (
            <span className="text-meta text-text-3">
              Too long to save as a template. The limit is {MAX_TEMPLATE_CHARS.toLocaleString("en")} characters.
            </span>
          ) : (
            text !== "" &&
            !isKnown && (
              <Button look="quiet" onClick={() => setOwn(keepTemplate(text))} className={SMALL}>
                Save as template
              </Button>
            )
          )}
          {isOwn && (
            <Button look="quiet" onClick={() => setOwn(dropTemplate(text))} className={SMALL}>
              Delete template
            </Button>
          )}
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
            className="min-h-7! border-transparent! bg-transparent! py-0! text-dense! text-text-2 hover:bg-sunken! coarse:min-h-11!"
          />
        </span>
      }
    >
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
  )
}
