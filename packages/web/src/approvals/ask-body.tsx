import type { Ask } from "@signalbox/client"
import { CopyButton } from "../design/copy-button.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { DiffView } from "../transcript/diff-view.tsx"
import { JsonView } from "../transcript/json-view.tsx"
import { hunksOfInput } from "../transcript/tools/tool-body.tsx"
import { textIn } from "../transcript/tools/tool-words.ts"

const EDITS = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"])

/** Why somebody is asked: facts that the CLI or the hub gave, nothing of our own making. */
export function AskReasons({ ask }: { readonly ask: Ask }) {
  const { request } = ask
  const blocked = textIn(request, "blocked_path")
  const description = textIn(request, "description")
  const reasons = [
    textIn(request, "decision_reason"),
    blocked === undefined ? undefined : `Outside the folder: ${blocked}`,
    ask.kind === "tool" && description !== textIn(ask.input, "description") ? description : undefined,
    ask.rule === undefined ? undefined : `Rule ${ask.rule} asks for this.`,
  ].filter((reason) => reason !== undefined)
  if (reasons.length === 0) return null
  return (
    <ul className="text-dense text-text-2">
      {reasons.map((reason) => (
        <li key={reason}>
          <VisibleText text={reason} />
        </li>
      ))}
    </ul>
  )
}

/** All of what would be done: never cut, never hidden, nothing in it unseen. */
export function ToolAskBody({
  tool,
  input,
}: {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}) {
  const command = textIn(input, "command")
  if (tool === "Bash" && command !== undefined) {
    const { command: _, description, ...rest } = input
    return (
      <>
        {typeof description === "string" && <p className="text-dense text-text-2">{description}</p>}
        <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-10 font-mono text-dense whitespace-pre-wrap">
          <VisibleText text={command} />
          <CopyButton text={command} className="absolute top-1 right-1 size-7!" />
        </div>
        {Object.keys(rest).length > 0 && <JsonView value={rest} whole />}
      </>
    )
  }
  if (EDITS.has(tool)) {
    const path = textIn(input, "file_path") ?? textIn(input, "notebook_path")
    return (
      <>
        {path !== undefined && (
          <p className="font-mono text-meta">
            <VisibleText text={path} />
          </p>
        )}
        <DiffView hunks={hunksOfInput(tool, input)} />
        <p className="text-meta text-text-3">File content not checked: this is what the request says.</p>
      </>
    )
  }
  const url = textIn(input, "url")
  return (
    <>
      {url !== undefined && (
        <p className="font-mono text-dense">
          <VisibleText text={url} />
        </p>
      )}
      <JsonView value={input} whole />
    </>
  )
}
