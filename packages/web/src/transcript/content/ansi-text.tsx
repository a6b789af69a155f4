import { Fragment } from "react"
import { classes } from "../../design/classes.ts"
import { proseText } from "../../design/visible-text.tsx"
import { type AnsiSpan, ansiSpans } from "./ansi.ts"

const COLOURS: Readonly<Record<NonNullable<AnsiSpan["tone"]>, string>> = {
  danger: "text-danger",
  clear: "text-clear",
  caution: "text-caution",
  info: "text-info",
  plan: "text-plan",
  accent: "text-accent",
  faint: "text-text-3",
}

export function AnsiText({ text }: { readonly text: string }) {
  return (
    <bdi>
      {ansiSpans(text).map((span, index) =>
        span.tone === undefined && span.bold !== true ? (
          <Fragment key={index}>{proseText(span.text)}</Fragment>
        ) : (
          // Spans have no identity but their place.
          <span
            key={index}
            className={classes(span.tone !== undefined && COLOURS[span.tone], span.bold === true && "font-bold")}
          >
            {proseText(span.text)}
          </span>
        ),
      )}
    </bdi>
  )
}
