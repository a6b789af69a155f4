import { useMemo } from "react"
import { VisibleText } from "../../design/visible-text.tsx"
import { OutputText } from "./output-text.tsx"

/** Anything at all, as it is. */
export function JsonView({ value, whole = false }: { readonly value: unknown; readonly whole?: boolean }) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? "nothing", [value])
  if (!whole) return <OutputText text={text} from="start" />
  return (
    <div className="rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap">
      <VisibleText text={text} />
    </div>
  )
}
