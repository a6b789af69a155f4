import { Select } from "../design/field.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { DESTINATIONS, type Suggestion } from "./permission-words.ts"

interface RememberProps {
  readonly suggestions: readonly Suggestion[]
  readonly ticked: ReadonlyMap<number, string>
  readonly onChange: (ticked: ReadonlyMap<number, string>) => void
}

/** Standing permissions that could be given along with the answer. None is ticked until somebody ticks it. */
export function Remember({ suggestions, ticked, onChange }: RememberProps) {
  if (suggestions.length === 0) return null
  return (
    <ul aria-label="Remember" className="flex flex-col gap-1">
      {suggestions.map(({ words, rule, destination }, index) => {
        const place = ticked.get(index) ?? destination
        const toggle = () => {
          const next = new Map(ticked)
          if (!next.delete(index)) next.set(index, destination)
          onChange(next)
        }
        const name = `${words}${rule === undefined ? "" : ` ${rule}`}`
        return (
          <li key={name} className="flex flex-wrap items-center gap-2 text-dense">
            <label className="flex min-h-7 min-w-0 items-center gap-2 coarse:min-h-11">
              <input
                type="checkbox"
                data-remember
                checked={ticked.has(index)}
                onChange={toggle}
                className="size-4 shrink-0"
              />
              <span className="min-w-0">
                {words}{" "}
                {rule !== undefined && (
                  <code className="rounded-[4px] bg-sunken px-1 font-mono text-meta">
                    <VisibleText text={rule} />
                  </code>
                )}
              </span>
            </label>
            {destination === "cliArg" ? (
              <span className="text-meta text-text-3">as its command line says</span>
            ) : (
              <Select
                aria-label={`Where to remember: ${name}`}
                value={place}
                choices={DESTINATIONS}
                onChange={(event) => onChange(new Map([...ticked, [index, event.target.value]]))}
                className="min-h-7! py-0! text-dense! coarse:min-h-11!"
              />
            )}
          </li>
        )
      })}
    </ul>
  )
}
