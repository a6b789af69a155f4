import type { ToolRow } from "@signalbox/transcript"
import { useState } from "react"
import { setQuery } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
import { hasHidden } from "../../design/visible-characters.ts"
import { proseText, VisibleText } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import { SafeLink } from "../content/markdown.tsx"
import { OutputText } from "../content/output-text.tsx"
import { ResultBody } from "./result-body.tsx"
import { gitFacts } from "./tool-facts.ts"
import { textIn } from "./tool-words.ts"

/** A command that was denied, or has not written anything yet, may have nothing to show beyond its line. */
export function hasBashBody({ name, input, result, task }: ToolRow): boolean {
  if (name !== "Bash" || result !== undefined) return true
  return textIn(input, "description") !== undefined || isLongCommand({ name, input }) || task?.isBackground === true
}

/** A command with what it wrote: of a long command the beginning, of long output the end. */
export function BashBody({ row }: { readonly row: ToolRow }) {
  const command = textIn(row.input, "command") ?? ""
  const description = textIn(row.input, "description")
  const stdout = textIn(row.result?.structured, "stdout")
  const stderr = textIn(row.result?.structured, "stderr")
  const isBackground = row.task?.isBackground === true || row.input["run_in_background"] === true
  return (
    <>
      {description !== undefined && <p className="text-dense text-text-2">{proseText(description)}</p>}
      {isLongCommand(row) && <Command text={command} />}
      {stdout === undefined && stderr === undefined ? (
        <ResultBody row={row} from="end" />
      ) : (
        <>
          {stdout !== undefined && <OutputText text={stdout} from="end" />}
          {stderr !== undefined && <OutputText text={stderr} from="end" label="stderr" />}
        </>
      )}
      <GitFacts row={row} />
      {isBackground && (
        <Button look="quiet" className="-ms-3 self-start" onClick={() => setQuery({ panel: "tasks" }, { push: true })}>
          Runs in the background: see Tasks
        </Button>
      )}
    </>
  )
}

const SHORT_CHARS = 80

/** Whatever fits into its line, and is all seen there, is not told twice. */
export function isLongCommand({ name, input }: Pick<ToolRow, "name" | "input">): boolean {
  const command = textIn(input, "command") ?? ""
  return name === "Bash" && (command.length > SHORT_CHARS || command.includes("\n") || hasHidden(command))
}

const SHOWN_LINES = 3

function Command({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false)
  const lines = text.split("\n")
  const hidden = all ? 0 : Math.max(0, lines.length - SHOWN_LINES)
  return (
    <div className="overflow-hidden rounded-control border border-line bg-sunken font-mono text-dense">
      <div className="px-3 py-2 whitespace-pre-wrap">
        <VisibleText text={hidden === 0 ? text : lines.slice(0, SHOWN_LINES).join("\n")} />
      </div>
      {hidden > 0 && (
        <Button
          look="quiet"
          onClick={() => setAll(true)}
          className="w-full rounded-none! font-sans text-dense! whitespace-normal!"
        >
          Show {plural(hidden, "more line")} of the command
        </Button>
      )}
    </div>
  )
}

function GitFacts({ row }: { readonly row: ToolRow }) {
  const facts = gitFacts(row)
  if (facts.length === 0) return null
  return (
    <ul aria-label="Made by this command" className="flex flex-wrap gap-2">
      {facts.map(({ text, url }) => (
        <li key={text} className="rounded-[4px] border border-line px-1.5 text-meta text-text-2">
          {url === undefined ? text : <SafeLink href={url}>{text}</SafeLink>}
        </li>
      ))}
    </ul>
  )
}
