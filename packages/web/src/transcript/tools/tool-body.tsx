import { answersOf, type ToolRow } from "@signalbox/transcript"
import { classes } from "../../design/classes.ts"
import { DiffView } from "../content/diff-view.tsx"
import { JsonView } from "../content/json-view.tsx"
import { Markdown, SafeLink } from "../content/markdown.tsx"
import { BashBody } from "./bash-body.tsx"
import { todoChanges } from "./checklist.ts"
import { hunksOf } from "./edit-hunks.ts"
import { ResultBody } from "./result-body.tsx"
import { webLinks } from "./tool-facts.ts"
import { type Todo, textIn, todosOf } from "./tool-words.ts"

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
      return <TodoDiff row={row} />
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
          <WebLinks structured={row.result?.structured} />
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

/** Only what is no longer as it was; the list itself is in the Tasks panel. */
function TodoDiff({ row }: { readonly row: ToolRow }) {
  const changes = todoChanges(row)
  return <TodoList todos={changes?.changed ?? todosOf(row.input)} />
}

export function TodoList({ todos }: { readonly todos: readonly Todo[] }) {
  return (
    <ul className="flex flex-col gap-1 text-dense">
      {todos.map(({ text, status }, index) => {
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
  const answers = new Map(answersOf(row).map(({ question, answer }) => [question, answer]))
  const questions: readonly unknown[] = Array.isArray(row.input["questions"]) ? row.input["questions"] : []
  return (
    <dl className="flex flex-col gap-2 text-dense">
      {questions.map((question) => {
        const text = textIn(question, "question") ?? ""
        return (
          <div key={text}>
            <dt className="text-text-2">{text}</dt>
            {row.state !== "waiting" && <dd className="font-medium">{answers.get(text) ?? "No answer"}</dd>}
          </div>
        )
      })}
    </dl>
  )
}

const MAX_LINKS = 20

function WebLinks({ structured }: { readonly structured: unknown }) {
  const links = webLinks(structured).slice(0, MAX_LINKS)
  if (links.length === 0) return null
  return (
    <ul aria-label="Found" className="flex flex-col text-dense">
      {links.map(({ title, url }) => (
        <li key={url}>
          <SafeLink href={url}>{title}</SafeLink>
        </li>
      ))}
    </ul>
  )
}
