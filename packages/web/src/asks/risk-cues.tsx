import type { Ask } from "@signalbox/client"
import { type RiskKind, riskCues } from "@signalbox/policy"
import { useMemo } from "react"
import { useSession } from "../app/hub-context.ts"
import { VisibleText } from "../design/visible-text.tsx"

const WORDS: Readonly<Record<RiskKind, string>> = {
  deletes: "Deletes",
  forces: "Forces",
  production: "Production",
  superuser: "Superuser",
  outside: "Outside the folder",
  secret: "Secrets",
  network: "Network",
  "runs-download": "Runs a download",
  unread: "Not checked",
}

interface CuesProps {
  readonly ask: Pick<Ask, "toolName" | "input" | "sessionId">
}

const NO_INPUT = {}

function useCues({ toolName: tool = "", input = NO_INPUT, sessionId }: CuesProps["ask"]): ReturnType<typeof riskCues> {
  const cwd = useSession(sessionId)?.cwd ?? undefined
  return useMemo(() => riskCues({ tool, input }, { cwd }), [tool, input, cwd])
}

/** In a row of a list: the kinds alone. */
export function RiskKinds({ ask }: CuesProps) {
  const kinds = [...new Set(useCues(ask).map(({ kind }) => kind))]
  if (kinds.length === 0) return null
  return (
    <span className="shrink-0 rounded-mark bg-caution-soft px-1 font-medium text-caution">
      {kinds
        .slice(0, MAX_KINDS)
        .map((kind) => WORDS[kind])
        .join(", ")}
      {kinds.length > MAX_KINDS && ` +${kinds.length - MAX_KINDS}`}
    </span>
  )
}

const MAX_KINDS = 2
/** A request that does the same many times, or many things, needs the room for itself. */
const MANY_KINDS = 5

/** Facts to look at twice, each with the part that shows it. None of them is a verdict. */
export function RiskCues({ ask }: CuesProps) {
  const cues = useCues(ask)
  if (cues.length === 0) return null
  const mostOfKind = new Set(cues.map(({ kind }) => kind)).size < MANY_KINDS ? 2 : 1
  const isShown = ({ kind }: (typeof cues)[number], index: number) =>
    cues.slice(0, index).filter((before) => before.kind === kind).length < mostOfKind
  const shown = cues.filter(isShown)
  return (
    <ul aria-label="Look twice" className="flex flex-wrap gap-x-2 gap-y-1">
      {shown.map(({ kind, found }) => (
        <li
          key={`${kind}:${found}`}
          data-cue={kind}
          className="flex max-w-full items-baseline gap-1.5 rounded-mark bg-caution-soft px-1.5 text-meta"
        >
          <span className="shrink-0 font-medium text-caution">{WORDS[kind]}</span>
          <VisibleText as="span" className="truncate font-mono text-text-2" text={found} />
        </li>
      ))}
      {shown.length < cues.length && <li className="text-meta text-caution">More in the request</li>}
    </ul>
  )
}
