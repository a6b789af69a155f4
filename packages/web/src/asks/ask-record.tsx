import type { Ask } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import type { ReactNode } from "react"
import { VisibleText } from "../design/visible-text.tsx"
import { DiffView } from "../transcript/content/diff-view.tsx"
import { JsonView } from "../transcript/content/json-view.tsx"
import { diffTexts } from "../transcript/content/line-diff.ts"
import { textIn } from "../transcript/tools/tool-words.ts"
import { ElicitationRecord, QuestionRecord } from "./form-record.tsx"
import type { AskPlace } from "./forms/ask-form.ts"
import { PlanText, RequestedApprovals } from "./forms/plan-text.tsx"
import { ToolAskBody, useEditPreview } from "./forms/tool-body.tsx"
import { useIsSplit } from "./forms/use-is-split.ts"
import { usePlan } from "./forms/use-plan.ts"

interface AskRecordProps {
  readonly ask: Ask
  readonly place: AskPlace
}

/** What was asked and what was answered, for those who only read, and once it is settled. */
export function AskRecord({ ask, place }: AskRecordProps) {
  return (
    <div
      tabIndex={0}
      role="group"
      aria-label="Request"
      className="flex min-h-14 flex-col gap-2 overflow-y-auto rounded-control"
    >
      <Asked ask={ask} place={place} />
      <Answered ask={ask} />
    </div>
  )
}

function Asked({ ask, place }: AskRecordProps) {
  switch (ask.kind) {
    case "tool":
      return <AskedTool ask={ask} place={place} />
    case "question":
      return <QuestionRecord ask={ask} />
    case "plan":
      return <AskedPlan ask={ask} />
    case "elicitation":
      return <ElicitationRecord ask={ask} />
    case "dialog":
      return <JsonView value={ask.request["payload"] ?? ask.request} whole />
  }
}

function AskedTool({ ask, place }: AskRecordProps) {
  const preview = useEditPreview(ask)
  const isSplit = useIsSplit(place)
  return <ToolAskBody tool={ask.toolName ?? ""} input={ask.input ?? {}} preview={preview} isSplit={isSplit} />
}

function AskedPlan({ ask }: { readonly ask: Ask }) {
  return (
    <div className="rounded-control border border-plan/40 bg-plan-soft px-4 py-2">
      <PlanText plan={usePlan(ask)} />
      <RequestedApprovals input={ask.input} />
    </div>
  )
}

/** What went back with the answer: a reason, a changed input. */
function Answered({ ask }: { readonly ask: Ask }) {
  const { answer, input, kind } = ask
  const message = textIn(answer, "message")
  const updated = answer?.["updatedInput"]
  const [before, after] = [JSON.stringify(input, null, 2), JSON.stringify(updated, null, 2)]
  const isChanged = kind !== "question" && isObject(updated) && input !== undefined && before !== after
  return (
    <>
      {message !== undefined && ask.state === "denied" && (
        <Part title="Claude was told">
          <p className="whitespace-pre-wrap">
            <VisibleText text={message} />
          </p>
        </Part>
      )}
      {isChanged && (
        <Part title="Changed before it was allowed">
          <DiffView hunks={diffTexts(before, after)} />
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
