import type { Session } from "@signalbox/client"
import type { TaskFacts, ToolRow } from "@signalbox/transcript"
import { useMemo, useState } from "react"
import { refusalWords } from "../../agent/agent-question.ts"
import { useCanOperate, useHub } from "../../app/hub-context.ts"
import { useValue } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { Empty, Trouble } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { duration, plural, tokens } from "../../design/words.ts"
import { useTranscript } from "../../transcript/rows/transcript-context.tsx"
import { checklistOf } from "../../transcript/tools/checklist.ts"
import { TodoList } from "../../transcript/tools/tool-body.tsx"
import { toolWords } from "../../transcript/tools/tool-words.ts"
import { LoadedNote, toolRowsOf } from "./loaded-rows.tsx"
import type { PanelProps } from "./session-panels.tsx"

type TaskRow = ToolRow & { readonly task: TaskFacts }

/** The agent's to-do list, and the sub-agents at work. */
export function TasksPanel({ session, feed }: PanelProps) {
  const view = useValue(feed.view)
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const { todos, tasks } = useMemo(() => {
    const tools = toolRowsOf((lane) => feed.laneRows(lane))
    return {
      todos: checklistOf(tools),
      tasks: tools.filter((row): row is TaskRow => row.task !== undefined).toReversed(),
    }
    // The rows are the fold's own: that they changed is what the view tells.
  }, [feed, view])
  return (
    <div className="flex flex-col gap-4">
      <LoadedNote feed={feed} />
      <Trouble>{trouble}</Trouble>
      {todos.length === 0 && tasks.length === 0 && <Empty>No to-do list and no sub-agents.</Empty>}
      {todos.length > 0 && (
        <section aria-label="To-do list" className="flex flex-col gap-2">
          <h3 className="text-dense font-bold">To-do list</h3>
          <TodoList todos={todos} />
        </section>
      )}
      {tasks.length > 0 && (
        <section aria-label="Sub-agents and background tasks" className="flex flex-col gap-1">
          <h3 className="text-dense font-bold">Sub-agents and background tasks</h3>
          <ul className="flex flex-col">
            {tasks.map((row) => (
              <Task key={row.key} row={row} session={session} onTrouble={setTrouble} />
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

const STATUS_WORDS: Readonly<Record<TaskFacts["status"], readonly [word: string, look: string]>> = {
  running: ["Running", "text-clear"],
  completed: ["Done", "text-text-3"],
  failed: ["Failed", "text-danger"],
  stopped: ["Stopped", "text-text-2"],
}

interface TaskProps {
  readonly row: TaskRow
  readonly session: Session
  readonly onTrouble: (why: string | undefined) => void
}

function Task({ row, session, onTrouble }: TaskProps) {
  const hub = useHub()
  const canOperate = useCanOperate()
  const { onLane } = useTranscript()
  const [isStopping, setStopping] = useState(false)
  const { task, hasLane, toolUseId } = row
  const words = toolWords(row)
  const [status, look] = STATUS_WORDS[task.status]
  const title = oneLine(task.description ?? words.subject, 160)

  async function stop(taskId: string): Promise<void> {
    setStopping(true)
    onTrouble(undefined)
    try {
      await hub.session(session.id).control({ subtype: "stop_task", task_id: taskId })
    } catch (error) {
      onTrouble(`Couldn't stop “${title}”: ${refusalWords(error, session)}`)
    } finally {
      setStopping(false)
    }
  }

  return (
    <li className="flex flex-col gap-1 border-b border-line py-2">
      <span className="flex items-baseline gap-2 text-dense">
        <bdi className="min-w-0 flex-1 font-medium">{title}</bdi>
        <span className={classes("shrink-0 text-meta", look)}>{status}</span>
      </span>
      <span className="text-meta text-text-3">{factsOf(row).join(" · ")}</span>
      {task.summary !== undefined && task.summary !== task.description && (
        <bdi className="text-dense text-text-2">{oneLine(task.summary, 300)}</bdi>
      )}
      {(hasLane || task.status === "running") && (
        <span className="flex gap-2">
          {hasLane && <Button onClick={() => onLane(toolUseId)}>Open lane</Button>}
          {canOperate && task.status === "running" && task.taskId !== undefined && (
            <Button
              aria-label={`Stop ${title}`}
              aria-disabled={isStopping}
              onClick={() => void (isStopping || stop(task.taskId ?? ""))}
            >
              {isStopping ? "Stopping…" : "Stop"}
            </Button>
          )}
        </span>
      )}
    </li>
  )
}

function factsOf({ task, name }: TaskRow): readonly string[] {
  const kind = task.subagentType ?? (name === "Bash" ? "command" : "agent")
  return [
    oneLine(kind, 40),
    ...(task.isBackground ? ["in the background"] : []),
    ...(task.toolUses === undefined ? [] : [plural(task.toolUses, "tool use")]),
    ...(task.tokens === undefined ? [] : [`${tokens(task.tokens)} tokens`]),
    ...(task.durationMs === undefined ? [] : [duration(task.durationMs)]),
    ...(task.status === "running" && task.currentTool !== undefined ? [`now ${oneLine(task.currentTool, 40)}`] : []),
  ]
}
