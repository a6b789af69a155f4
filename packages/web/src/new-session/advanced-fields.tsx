import { useMe } from "../app/hub-context.ts"
import { Field, INPUT, TextField } from "../design/field.tsx"
import type { FieldProblem } from "./launch.ts"
import { MorePart } from "./more-part.tsx"

type Name = "budget" | "directories" | "allowed" | "disallowed"

interface AdvancedFieldsProps {
  readonly problem: FieldProblem | undefined
  /** What stood there in a launch that came to nothing. */
  readonly before: (name: Name) => string
}

const LISTS: readonly { readonly name: Name; readonly label: string; readonly placeholder: string }[] = [
  { name: "directories", label: "Extra directories, one per line", placeholder: "/home/me/other" },
  { name: "allowed", label: "Allowed tools, one per line", placeholder: "Bash(npm test:*)" },
  { name: "disallowed", label: "Denied tools, one per line", placeholder: "WebFetch" },
]

/** What becomes arguments of the CLI: only an admin may give it any. */
export function AdvancedFields({ problem, before }: AdvancedFieldsProps) {
  const { role } = useMe()
  if (role !== "admin") return null
  const isFilled = LISTS.some(({ name }) => before(name) !== "") || before("budget") !== ""
  return (
    <MorePart title="Advanced" startsOpen={isFilled} problem={problem?.field === "budget" ? problem : undefined}>
      <div className="mt-2 grid gap-3 tablet:grid-cols-2">
        <TextField
          label="Budget in dollars"
          name="budget"
          inputMode="decimal"
          defaultValue={before("budget")}
          autoComplete="off"
          error={problem?.field === "budget" ? problem.why : undefined}
          hint="It stops when it has cost that much"
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
