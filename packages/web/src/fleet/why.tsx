import type { Ask } from "@signalbox/client"
import { Fragment } from "react"
import { Link } from "../app/router.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { ruleAddress } from "./ask-words.ts"

export type Why = NonNullable<Ask["why"]>
type Span = NonNullable<Why["span"]>
type Input = Readonly<Record<string, unknown>> | undefined

interface WhyNoteProps {
  readonly reason: string
  readonly why?: Why | undefined
}

/** Why the policy decides as it does, in its own words: the reason, and what would have to change. */
export function WhyNote({ reason, why }: WhyNoteProps) {
  return (
    <span data-why>
      <LinkedText text={reason} rules={why?.rules ?? []} />
      {why !== undefined && (
        <>
          {" "}
          <VisibleText text={why.change} />
        </>
      )}
    </span>
  )
}

interface LinkedTextProps {
  readonly text: string
  readonly rules: Why["rules"]
}

/** A sentence in which the names of rules, as they stand in quotation marks, lead to the rules. */
function LinkedText({ text, rules }: LinkedTextProps) {
  const named = rules
    .map(({ id }) => ({ id, start: text.indexOf(`"${id}"`) + 1 }))
    .filter(({ start }) => start > 0)
    .sort((a, b) => a.start - b.start)
  const ends = named.map(({ id, start }) => start + id.length)
  return (
    <>
      {named.map(({ id, start }, index) => (
        <Fragment key={id}>
          <VisibleText text={text.slice(index === 0 ? 0 : ends[index - 1], start)} />
          <RuleLink id={id} />
        </Fragment>
      ))}
      <VisibleText text={text.slice(ends.at(-1) ?? 0)} />
    </>
  )
}

function isGrant(id: string): boolean {
  return id.startsWith("grant:")
}

/** Leads to a rule, or to the grant that is one. */
export function RuleLink({ id }: { readonly id: string }) {
  return (
    // Over a row that is a link itself.
    <Link href={ruleAddress(id)} className="relative text-accent underline">
      {isGrant(id) ? "a grant" : <VisibleText text={id} />}
    </Link>
  )
}

/** The part of a field that decided; undefined if none did, or if the text is not the one that was judged. */
export function decidingSpan(why: Why | undefined, field: string, text: string): Span | undefined {
  const { span } = why ?? {}
  if (why?.field !== field || span === undefined) return undefined
  const { start, end } = span
  return start < end && end <= text.length ? span : undefined
}

interface MarkedTextProps {
  readonly text: string
  readonly span: Span | undefined
}

/** Text of somebody else's, with the part marked that decided. */
export function MarkedText({ text, span }: MarkedTextProps) {
  if (span === undefined) return <VisibleText text={text} />
  return (
    <>
      <VisibleText text={text.slice(0, span.start)} />
      <mark
        title="This part decided"
        className="rounded-[3px] bg-caution-soft text-text underline decoration-caution decoration-2 underline-offset-3"
      >
        <VisibleText text={text.slice(span.start, span.end)} />
      </mark>
      <VisibleText text={text.slice(span.end)} />
    </>
  )
}

/** The text that decided, where nothing else shows it. */
export function DecidingText({ why, input }: { readonly why: Why | undefined; readonly input: Input }) {
  const whole = why?.field === undefined ? undefined : input?.[why.field]
  // The input may be gone: the part alone is kept with the verdict.
  const text = typeof whole === "string" ? whole : why?.text
  if (why?.field === undefined || text === undefined) return null
  const span = typeof whole === "string" ? decidingSpan(why, why.field, whole) : undefined
  return (
    <p className="rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap">
      <MarkedText text={text} span={span} />
    </p>
  )
}
