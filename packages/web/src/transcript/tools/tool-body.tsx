import type { ToolRow } from "@signalbox/protocol/transcript"
import { classes } from "../../design/classes.ts"
import { VisibleText } from "../../design/visible-text.tsx"
import { DiffView } from "../diff-view.tsx"
import { JsonView } from "../json-view.tsx"
import { diffTexts, type Hunk, patchOf } from "../line-diff.ts"
import { Markdown } from "../markdown.tsx"
import { OutputText } from "../output-text.tsx"
import { Pictures } from "../pictures.tsx"
import { resultText, textIn, todosOf } from "./tool-words.ts"

/** What a tool did, when somebody opens it: by tool, and for the rest input and result as they are. */
export function ToolBody({ row }: { readonly row: ToolRow }) {
  switch (row.name) {
    case "Bash":
      return <BashBody row={row} />
    case "Edit":
    case "MultiEdit":
    case "Write":
    case "NotebookEdit":
      return <EditBody row={row} />
    case "TodoWrite":
      return <Todos input={row.input} />
    case "ExitPlanMode":
      return <Markdown text={textIn(row.input, "plan") ?? ""} live={false} />
    case "AskUserQuestion":
      return <Answers row={row} />
    case "Read":
    case "Glob":
    case "Grep":
      return <ResultBody row={row} from="start" />
    case "WebFetch":
    case "WebSearch":
      return (
        <>
          {textIn(row.input, "prompt") !== undefined && (
            <p className="text-dense text-text-2">{textIn(row.input, "prompt")}</p>
          )}
          <ResultBody row={row} from="start" />
        </>
      )
    default:
      return (
        <>
          {row.hasCall && <JsonView value={row.input} />}
          <ResultBody row={row} from="start" />
        </>
      )
  }
}

function ResultBody({ row, from }: { readonly row: ToolRow; readonly from: "start" | "end" }) {
  if (row.result === undefined) return null
  const { content, isError } = row.result
  return (
    <>
      <OutputText text={resultText(content)} from={from} {...(isError ? { tone: "danger", label: "Error" } : {})} />
      <Pictures content={content} from={row.name === "" ? "a tool" : row.name} />
    </>
  )
}

function BashBody({ row }: { readonly row: ToolRow }) {
  const command = textIn(row.input, "command") ?? ""
  const stdout = textIn(row.result?.structured, "stdout")
  const stderr = textIn(row.result?.structured, "stderr")
  return (
    <>
      <div className="rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap">
        <VisibleText text={command} />
      </div>
      {stdout === undefined && stderr === undefined ? (
        <ResultBody row={row} from="end" />
      ) : (
        <>
          {stdout !== undefined && <OutputText text={stdout} from="end" />}
          {stderr !== undefined && <OutputText text={stderr} from="end" label="stderr" />}
        </>
      )}
    </>
  )
}

/** What changed, as the CLI tells it; before it does, as the call says it. */
export function hunksOf(row: Pick<ToolRow, "name" | "input" | "result">): readonly Hunk[] {
  const { name, input, result } = row
  const structured = result?.structured
  const told = patchOf(
    typeof structured === "object" && structured !== null && "structuredPatch" in structured
      ? structured.structuredPatch
      : undefined,
  )
  return told ?? hunksOfInput(name, input)
}

export function hunksOfInput(name: string, input: Readonly<Record<string, unknown>>): readonly Hunk[] {
  if (name === "Write") return diffTexts("", textIn(input, "content") ?? "")
  if (name === "NotebookEdit") return diffTexts(textIn(input, "old_source") ?? "", textIn(input, "new_source") ?? "")
  const edits: readonly unknown[] = Array.isArray(input["edits"]) ? input["edits"] : [input]
  return edits.flatMap((edit) => diffTexts(textIn(edit, "old_string") ?? "", textIn(edit, "new_string") ?? ""))
}

function EditBody({ row }: { readonly row: ToolRow }) {
  const failed = row.result?.isError === true
  return (
    <>
      <DiffView hunks={hunksOf(row)} maxLines={40} />
      {failed && <ResultBody row={row} from="start" />}
    </>
  )
}

const TODO_MARKS: Readonly<Record<string, readonly [mark: string, word: string]>> = {
  completed: ["✓", "done"],
  in_progress: ["▸", "started"],
  pending: ["○", "to do"],
}

export function Todos({ input }: { readonly input: unknown }) {
  return (
    <ul className="flex flex-col gap-1 text-dense">
      {todosOf(input).map(({ text, status }, index) => {
        const [mark, word] = TODO_MARKS[status] ?? ["○", status]
        return (
          <li key={index} className="flex gap-2">
            <span
              aria-hidden="true"
              className={classes("w-4 shrink-0 text-center", status === "completed" && "text-clear")}
            >
              {mark}
            </span>
            <span className="sr-only">{word}: </span>
            <bdi
              className={classes(
                status === "completed" && "text-text-3 line-through",
                status === "in_progress" && "font-medium",
              )}
            >
              {text}
            </bdi>
          </li>
        )
      })}
    </ul>
  )
}

function Answers({ row }: { readonly row: ToolRow }) {
  const given = row.ask?.answer?.["updatedInput"]
  const answers = typeof given === "object" && given !== null && "answers" in given ? given.answers : undefined
  const questions: readonly unknown[] = Array.isArray(row.input["questions"]) ? row.input["questions"] : []
  return (
    <dl className="flex flex-col gap-2 text-dense">
      {questions.map((question) => {
        const text = textIn(question, "question") ?? ""
        return (
          <div key={text}>
            <dt className="text-text-2">{text}</dt>
            <dd className="font-medium">{textIn(answers, text) ?? "No answer"}</dd>
          </div>
        )
      })}
    </dl>
  )
}
