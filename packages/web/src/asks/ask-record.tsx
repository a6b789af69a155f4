import type { Ask } from "@signalbox/client"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { ReactNode } from "react"
import { VisibleText } from "../design/visible-text.tsx"
import { DiffView } from "../transcript/content/diff-view.tsx"
import { diffTexts } from "../transcript/content/line-diff.ts"
import { textIn } from "../transcript/tools/tool-words.ts"
import { answeredFields, fieldsOf } from "./forms/elicitation-fields.ts"
import { WholeJson } from "./forms/long-request.tsx"
import { AllowedPrompts, PlanText, usePlan } from "./forms/plan-form.tsx"
import { type Question, questionsOf } from "./forms/question-answers.ts"
import { QuestionText } from "./forms/question-form.tsx"
import { ToolAskBody, useEditPreview } from "./forms/tool-body.tsx"

interface AskRecordProps {
  readonly ask: Ask
}

/** A request with its answer, for those who only read, and once it is settled. */
export function AskRecord({ ask }: AskRecordProps) {
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label="Request"
      className="flex min-h-14 flex-col gap-2 overflow-y-auto rounded-control"
    >
      <Asked ask={ask} />
      <Answered ask={ask} />
    </div>
  )
}

function Asked({ ask }: AskRecordProps) {
  const preview = useEditPreview(ask)
  switch (ask.kind) {
    case "tool":
      return <ToolAskBody tool={ask.toolName ?? ""} input={ask.input ?? {}} why={ask.why} preview={preview} />
    case "question":
      return <QuestionRecord ask={ask} />
    case "plan":
      return <AskedPlan ask={ask} />
    case "elicitation":
      return <ElicitationRecord ask={ask} />
    case "dialog":
      return <WholeJson value={ask.request["payload"] ?? ask.request} />
  }
}

function AskedPlan({ ask }: { readonly ask: Ask }) {
  return (
    <div className="rounded-control border border-plan/40 bg-plan-soft px-4 py-2">
      <PlanText plan={usePlan(ask)} />
      <AllowedPrompts input={ask.input} />
    </div>
  )
}

/** Everything that went back with the answer: a reason, a changed input. */
function Answered({ ask }: { readonly ask: Ask }) {
  const { answer, input, kind } = ask
  const message = textIn(answer, "message")
  const updated = answer?.["updatedInput"]
  const [before, after] = [JSON.stringify(input, null, 2), JSON.stringify(updated, null, 2)]
  const isChanged = kind !== "question" && isObject(updated) && input !== undefined && before !== after
  return (
    <>
      {message !== undefined && ask.state === "denied" && (
        <Part
          title={
            answer?.["interrupt"] === true ? "Reason (Claude was interrupted and may not see it)" : "Message to Claude"
          }
        >
          <VisibleText as="p" className="whitespace-pre-wrap" text={message} />
        </Part>
      )}
      {isChanged && (
        <Part title="Edited before approval">
          <DiffView hunks={diffTexts(before, after)} path="input.json" />
        </Part>
      )}
    </>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <h4 className="text-dense font-medium text-text-2">{title}</h4>
      {children}
    </div>
  )
}

/** Questions of an agent, each with what was answered, or with what could have been. */
function QuestionRecord({ ask }: { readonly ask: Ask }) {
  const updated = fieldOf(ask.answer, "updatedInput")
  const questions = questionsOf(ask.input)
  if (questions.length === 0) return <WholeJson value={ask.input ?? ask.request} />
  return (
    <dl className="flex flex-col gap-3">
      {questions.map((question) => (
        <Pair key={question.question} term={<QuestionText {...question} />}>
          <QuestionAnswer question={question} updated={updated} />
        </Pair>
      ))}
    </dl>
  )
}

type Answers = Readonly<Record<string, unknown>> | undefined

function QuestionAnswer({ question, updated }: { readonly question: Question; readonly updated: Answers }) {
  const note = fieldOf(fieldOf(updated, "annotations"), question.question)
  const answer = textOf(fieldOf(updated, "answers"), question.question)
  const words = textOf(note, "notes")
  if (textOf(note, "unanswered") === "skipped") return <Nothing>Skipped</Nothing>
  if (answer === undefined || answer === "") {
    const choices = question.options.map(({ label }) => label).join(" · ")
    return <Nothing>{choices === "" ? "Not answered" : <VisibleText text={`Choices: ${choices}`} />}</Nothing>
  }
  return (
    <>
      <VisibleText text={answer} />
      {words !== undefined && (
        <p className="text-dense text-text-2">
          Note: <VisibleText text={words} />
        </p>
      )}
    </>
  )
}

/** A form of an MCP server: its fields with what was sent, or what it wanted to know. */
function ElicitationRecord({ ask }: { readonly ask: Ask }) {
  const { request, answer } = ask
  const server = textOf(request, "mcp_server_name")
  const url = textOf(request, "url")
  return (
    <>
      {server !== undefined && (
        <p className="text-dense text-text-2">
          From the MCP server <VisibleText as="strong" className="font-medium text-text" text={server} />
        </p>
      )}
      <VisibleText as="p" className="whitespace-pre-wrap" text={textOf(request, "message") ?? ""} />
      {url === undefined ? (
        <FormFields request={request} content={fieldOf(answer, "content")} />
      ) : (
        <VisibleText as="p" className="font-mono text-dense" text={url} />
      )}
    </>
  )
}

function FormFields({ request, content }: { readonly request: Ask["request"]; readonly content: Answers }) {
  if (content === undefined) {
    const labels = fieldsOf(request["requested_schema"], request["property_order"]).map(({ label }) => label)
    if (labels.length === 0) return <WholeJson value={request["requested_schema"] ?? request} />
    return (
      <p className="text-text-2">
        Asked for: <VisibleText text={labels.join(", ")} />
      </p>
    )
  }
  return (
    <dl className="flex flex-col gap-2">
      {answeredFields(request, content).map(({ name, label, value }) => (
        <Pair key={name} term={<VisibleText text={label} />}>
          {value === undefined ? <Nothing>Left empty</Nothing> : <VisibleText text={value} />}
        </Pair>
      ))}
    </dl>
  )
}

function Pair({ term, children }: { readonly term: ReactNode; readonly children: ReactNode }) {
  return (
    <div>
      <dt className="text-dense font-medium text-text-2">{term}</dt>
      <dd className="whitespace-pre-wrap">{children}</dd>
    </div>
  )
}

function Nothing({ children }: { readonly children: ReactNode }) {
  return <span className="text-text-3">{children}</span>
}
