import { fieldOf, isObject } from "@signalbox/protocol/envelope"
import { answersOf, type ToolRow } from "@signalbox/transcript"
import { type ComponentType, useMemo, useState } from "react"
import { setQuery } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { CheckIcon, NextIcon, RingIcon } from "../../design/icons.tsx"
import { hasHidden, oneLine, proseText, VisibleText } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import { DiffView } from "../content/diff-view.tsx"
import { DocumentCard, documentsOf, picturesOf } from "../content/documents.tsx"
import { linesOf } from "../content/line-diff.ts"
import { Markdown, SafeLink } from "../content/markdown.tsx"
import { JsonView, OutputText } from "../content/output-text.tsx"
import { Pictures } from "../content/pictures.tsx"
import { todoChanges } from "./checklist.ts"
import { hunksOf, NOT_APPLIED } from "./edit-hunks.ts"
import { gitFacts, webLinks } from "./tool-facts.ts"
import { numberIn, resultText, type Todo, textIn, todosOf } from "./tool-words.ts"

interface BodyProps {
  readonly row: ToolRow
}

/** The work of a tool, when somebody opens it: by tool, and for the rest input and result as they are. */
export function ToolBody({ row }: BodyProps) {
  const Body = Object.hasOwn(BODIES, row.name) ? (BODIES[row.name] ?? OtherBody) : OtherBody
  return <Body row={row} />
}

const BODIES: Readonly<Record<string, ComponentType<BodyProps>>> = {
  Bash: BashBody,
  Edit: EditBody,
  MultiEdit: EditBody,
  Write: EditBody,
  NotebookEdit: EditBody,
  TodoWrite: TodoDiff,
  ExitPlanMode: ({ row }) => <Markdown text={textIn(row.input, "plan") ?? ""} live={false} />,
  AskUserQuestion: Answers,
  Read: ReadBody,
  Glob: ResultBody,
  Grep: ResultBody,
  WebFetch: WebBody,
  WebSearch: WebBody,
}

function OtherBody({ row }: BodyProps) {
  return (
    <>
      {row.hasCall && <JsonView value={row.input} />}
      <ResultBody row={row} />
    </>
  )
}

const MAX_ROWS = 40

/** A change that did not happen says so first, and does not look like one that did. */
function EditBody({ row }: BodyProps) {
  const isOff = NOT_APPLIED.has(row.state)
  return (
    <>
      {row.result?.isError === true && <ResultBody row={row} />}
      {isOff && <p className="text-dense font-medium text-danger">Not applied. This is the proposed change.</p>}
      <DiffView hunks={hunksOf(row)} path={pathOf(row)} maxRows={MAX_ROWS} isDim={isOff} />
    </>
  )
}

/** A file that was read, as it is in the file; anything else that reading gave, as the model got it. */
function ReadBody({ row }: BodyProps) {
  const file = fieldOf(row.result?.structured, "file")
  const content = textIn(file, "content")
  const isText = row.result?.isError === false && textIn(row.result.structured, "type") === "text"
  const hunks = useMemo(() => linesOf(content ?? "", numberIn(file, "startLine") ?? 1), [content, file])
  if (!isText || content === undefined || content === "") return <ResultBody row={row} />
  return <DiffView hunks={hunks} path={pathOf(row)} maxRows={READ_ROWS} isWhole />
}

const READ_ROWS = 12

function pathOf({ input }: ToolRow): string | undefined {
  return textIn(input, "file_path") ?? textIn(input, "notebook_path")
}

const TODO_MARKS: Readonly<Record<string, readonly [mark: typeof CheckIcon, word: string]>> = {
  completed: [CheckIcon, "done"],
  in_progress: [NextIcon, "started"],
  pending: [RingIcon, "to do"],
}

/** Only what is no longer as it was; the list itself is in the Tasks panel. */
function TodoDiff({ row }: BodyProps) {
  return <TodoList todos={todoChanges(row)?.changed ?? todosOf(row.input)} />
}

export function TodoList({ todos }: { readonly todos: readonly Todo[] }) {
  return (
    <ul className="flex flex-col gap-1 text-dense">
      {todos.map(({ text, status }, index) => {
        const [Mark, word] = TODO_MARKS[status] ?? [RingIcon, status]
        return (
          <li key={index} className="flex gap-2">
            <span className={classes("shrink-0 py-0.5", status === "completed" ? "text-clear" : "text-text-3")}>
              <Mark size={16} />
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

function Answers({ row }: BodyProps) {
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

function WebBody({ row }: BodyProps) {
  const prompt = textIn(row.input, "prompt")
  const links = webLinks(row.result?.structured).slice(0, MAX_LINKS)
  return (
    <>
      {prompt !== undefined && <p className="text-dense text-text-2">{prompt}</p>}
      {links.length > 0 && (
        <ul aria-label="Found" className="flex flex-col text-dense">
          {links.map(({ title, url }) => (
            <li key={url}>
              <SafeLink href={url}>{title}</SafeLink>
            </li>
          ))}
        </ul>
      )}
      <ResultBody row={row} />
    </>
  )
}

/** A command that was denied, or has not written anything yet, may have nothing to show beyond its line. */
export function hasBashBody({ name, input, result, task }: ToolRow): boolean {
  if (name !== "Bash" || result !== undefined) return true
  return textIn(input, "description") !== undefined || isLongCommand({ name, input }) || task?.isBackground === true
}

/** A command with what it wrote: of a long command the beginning, of long output the end. */
function BashBody({ row }: BodyProps) {
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
          Running in the background: show tasks
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

function GitFacts({ row }: BodyProps) {
  const facts = gitFacts(row)
  if (facts.length === 0) return null
  return (
    <ul aria-label="Made by this command" className="flex flex-wrap gap-2">
      {facts.map(({ text, url }) => (
        <li key={text} className="rounded-mark border border-line px-1.5 text-meta text-text-2">
          {url === undefined ? text : <SafeLink href={url}>{text}</SafeLink>}
        </li>
      ))}
    </ul>
  )
}

/** The result that the model got, by kind: text, pictures, links to resources. */
function ResultBody({ row, from = "start" }: BodyProps & { readonly from?: "start" | "end" }) {
  if (row.result === undefined) return null
  const { content, isError, structured } = row.result
  // "PDF file read: …" says what the card below says better.
  const isDocument = !isError && ["pdf", "parts"].includes(textIn(structured, "type") ?? "")
  const isStopped = row.state === "interrupted"
  // The model's own message then says less than the row's state, and not as it was.
  const isRejection = isStopped && resultText(content).startsWith("The user doesn't want to proceed")
  const text = isDocument || isRejection ? "" : resultText(content)
  return (
    <>
      <OutputText text={text} from={from} {...(isError && !isStopped ? { tone: "danger", label: "Error" } : {})} />
      <Pictures pictures={picturesOf(row)} />
      {documentsOf(row).map((document, index) => (
        <DocumentCard key={index} document={document} />
      ))}
      <Resources content={content} />
    </>
  )
}

/** Links of a server to more that can be read. */
function Resources({ content }: { readonly content: unknown }) {
  const links = (Array.isArray(content) ? content : []).filter(isObject).filter(({ type }) => type === "resource_link")
  if (links.length === 0) return null
  return (
    <ul aria-label="Resources" className="flex flex-col text-dense">
      {links.map((link, index) => {
        const uri = textIn(link, "uri") ?? ""
        return (
          <li key={index}>
            <SafeLink href={uri}>{oneLine(textIn(link, "title") ?? textIn(link, "name") ?? uri, 160)}</SafeLink>
          </li>
        )
      })}
    </ul>
  )
}
