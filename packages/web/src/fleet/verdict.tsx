import { Fragment } from "react"
import { Link } from "../app/router.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { ruleAddress } from "./ask-words.ts"
import { decidingSpan, type Why } from "./deciding-span.ts"

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

interface MarkedTextProps {
  readonly text: string
  /** The field of the input that has this text. */
  readonly field: string
  readonly why: Why
}

/** Text of somebody else's, with the part marked that decided. */
export function MarkedText({ text, field, why }: MarkedTextProps) {
  const span = decidingSpan(why, field, text)
  if (span === undefined) return <VisibleText text={text} />
  return (
    <>
      <VisibleText text={text.slice(0, span.start)} />
      <mark
        title="This part decided"
        className="rounded-mark bg-caution-soft text-text underline decoration-caution decoration-2 underline-offset-3"
      >
        <VisibleText text={text.slice(span.start, span.end)} />
      </mark>
      <VisibleText text={text.slice(span.end)} />
    </>
  )
}

/** The text that decided, where nothing else shows it. */
export function DecidingText({ why, input }: { readonly why: Why | undefined; readonly input: Input }) {
  if (why?.field === undefined) return null
  const whole = input?.[why.field]
  // The input may be gone: the part alone is kept with the verdict.
  const text = typeof whole === "string" ? whole : why.text
  if (text === undefined) return null
  return (
    <p className="rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap">
      {text === whole ? <MarkedText text={text} field={why.field} why={why} /> : <VisibleText text={text} />}
    </p>
  )
}
