import type { ReactNode } from "react"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import type { Why } from "./deciding-span.ts"

/** Links and marks are no part of the first load: the words stand there without them until then, in the same place. */
const LinkedNote = lazyPart(async () => (await import("./verdict.tsx")).WhyNote)
const MarkedText = lazyPart(async () => (await import("./verdict.tsx")).MarkedText)

function Until({ plain, children }: { readonly plain: ReactNode; readonly children: ReactNode }) {
  return (
    <PartBoundary waiting={plain} frame={() => plain}>
      {children}
    </PartBoundary>
  )
}

interface VerdictWordsProps {
  readonly reason: string
  readonly why: Why | undefined
}

/** Why the policy decided, on a request's card. */
export function VerdictWords({ reason, why }: VerdictWordsProps) {
  return (
    <Until plain={<VisibleText text={`${reason} ${why?.change ?? ""}`} />}>
      <LinkedNote reason={reason} why={why} />
    </Until>
  )
}

export interface JudgedTextProps {
  readonly text: string
  /** The field of the input that has this text. */
  readonly field: string
  readonly why: Why | undefined
}

/** A field of a request, with the part marked that decided, if one did. */
export function JudgedText({ text, field, why }: JudgedTextProps) {
  const plain = <VisibleText text={text} />
  if (why?.field !== field) return plain
  return (
    <Until plain={plain}>
      <MarkedText text={text} field={field} why={why} />
    </Until>
  )
}
